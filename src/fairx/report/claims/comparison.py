"""Claims about every data set and every merit (Sections 5.2 to 5.4 and the appendix)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.experiments.outcome import Panel
from fairx.plots.figure import merit_title
from fairx.report.estimates import (
    Estimate,
    apartness,
    difference,
    least,
    mean_of,
    minus,
    most,
    ordered_pairs,
    ratio,
)

from .claim import Finding, Rule, Statement
from .evidence import Evidence, by_steepness, fairness, merits, reward_share, roles


class Group(NamedTuple):
    """Figures of which one repeats a panel of the other."""

    figures: tuple[str, ...]
    where: str
    steepness: tuple[float, ...]  # of all their merits


FLAT, STEEP = (1.0, 2.0, 3.0), (6.0, 8.0, 10.0, 12.0)
GROUPS = {
    "yeast, no contexts": Group(("fig2", "figA1"), "Figures 2 and A1", STEEP),
    "mediamill, no contexts": Group(("figA2",), "Figure A2", STEEP),
    "yeast, linear": Group(("fig3", "figA3"), "Figures 3 and A3", FLAT),
    "mediamill, linear": Group(("figA4",), "Figure A4", FLAT),
    "yeast, linear and well specified": Group(("figA6",), "Figure A6", (2.0,)),
}
VARIED = [what for what in GROUPS if "well specified" not in what]  # more than one merit
LOW = 0.01


def _much_larger(evidence: Evidence) -> Finding:
    who = roles(evidence)
    found = least(
        {
            f"{usual} to {fair} at {merit_title(panel.merit)}": ratio(
                fairness(panel, usual), fairness(panel, fair)
            )
            for panel in evidence.panels
            for usual in who.conventional
            for fair in who.fair
        }
    )
    reason = "tuned for fairness too, the conventional policy spreads its exposure"
    return Finding(found, f"{found.name}; played: {merits(evidence.panels)}", reason)


def _low_reward_regret(evidence: Evidence) -> Finding:
    found = most(
        {
            f"{label} at {merit_title(panel.merit)}": mean_of(reward_share(panel, label))
            for panel in evidence.panels
            for label in roles(evidence).fair
        }
    )
    reason = f"{found.name} still pays for learning"
    return Finding(found, f"{found.name}; played: {merits(evidence.panels)}", reason)


def _differ_more(evidence: Evidence) -> Finding:
    panels, labels = by_steepness(evidence), roles(evidence).fair
    steep, flat = (_range(panel, labels) for panel in (panels[-1], panels[0]))
    return Finding(minus(steep, flat), _trend(panels, [_range(p, labels) for p in panels]))


def _range(panel: Panel, labels: tuple[str, ...]) -> Estimate:
    """Return the range of the mean regrets: the greatest of all differences, in both orders."""
    pairs = ordered_pairs({label: fairness(panel, label) for label in labels})
    return most({names: difference(*pair) for names, pair in pairs.items()})


def _trend(panels: list[Panel], found: list[Estimate]) -> str:
    each = ", ".join(
        f"{np.mean(one.value):.3g} at {merit_title(panel.merit)} ({one.name})"
        for panel, one in zip(panels, found, strict=True)
    )
    return f"from flat to steep: {each}"


def _vary_more(evidence: Evidence) -> Finding:
    panels, labels = by_steepness(evidence), roles(evidence).fair
    steep, flat = ([fairness(p, label) for label in labels] for p in (panels[-1], panels[0]))
    return Finding(apartness(steep, flat), f"{merits(panels[-1:])} over {merits(panels[:1])}")


STATEMENTS = [
    *(
        Statement(
            "Conventional policies suffer much larger fairness regret than FairX algorithms "
            f"({what}, every c).",
            f"Sections 5.2 to 5.4, {group.where}",
            "fairness regret of a conventional policy over that of one of the paper's three FairX "
            "algorithms, geometric mean of the runs, the least over all pairs and all c",
            Rule(low=2),
            (group.figures,),
            _much_larger,
            group.steepness,
        )
        for what, group in GROUPS.items()
    ),
    *(
        Statement(
            f"All FairX algorithms achieve low reward regret ({what}, every c).",
            f"Appendix, {GROUPS[what].where}",
            "reward regret as a share of what the optimal fair policy would earn, mean of the runs, "
            "the greatest over the paper's three FairX algorithms and all c",
            Rule(high=LOW),
            (GROUPS[what].figures,),
            _low_reward_regret,
            GROUPS[what].steepness,
        )
        for what in VARIED
    ),
    *(
        Statement(
            f"The steeper the merit, the larger the {of} ({what}).",
            f"Section 5.3 and appendix, {GROUPS[what].where}",
            statistic,
            rule,
            (GROUPS[what].figures,),
            judge,
            GROUPS[what].steepness,
        )
        for what in VARIED
        for of, statistic, rule, judge in (
            (
                "difference between the algorithms",
                (
                    "range of the mean fairness regrets of the paper's three FairX algorithms, at the "
                    "steepest merit less at the flattest; from simultaneous intervals of all differences, "
                    "run by run"
                ),
                Rule(low=0),
                _differ_more,
            ),
            (
                "variance of the runs",
                (
                    "distance of the fairness regrets of two runs, geometric mean over pairs of runs and the "
                    "paper's three FairX algorithms, at the steepest merit over that at the flattest"
                ),
                Rule(low=1),
                _vary_more,
            ),
        )
    ),
]
