"""Claims about every data set and every merit (Sections 5.2 to 5.4 and the appendix)."""

from __future__ import annotations

from functools import partial

import numpy as np

from fairx.experiments.outcome import Outcome, Panel
from fairx.merit import Exponential
from fairx.plots.figure import merit_title
from fairx.report.metrics import ratio_interval, resampled_interval, spread
from fairx.types import Indices, Vector

from .claim import Finding, Missing, Statement, fairness, highest, judged, lowest, only, roles

FIGURES = {
    "fig2": ("Figure 2", "yeast, no contexts"),
    "figA1": ("Figure A1", "yeast, no contexts"),
    "figA2": ("Figure A2", "mediamill, no contexts"),
    "fig3": ("Figure 3", "yeast, linear"),
    "figA3": ("Figure A3", "yeast, linear"),
    "figA4": ("Figure A4", "mediamill, linear"),
    "figA6": ("Figure A6", "yeast, linear and well specified"),
}


def _much_larger(outcome: Outcome) -> Finding:
    only(outcome)  # there is one
    who, ratios = roles(outcome), []
    for panel in outcome.panels:
        best = lowest(panel, who.conventional, fairness)
        worst = highest(panel, who.fair, fairness)
        found = ratio_interval(fairness(panel, best), fairness(panel, worst))
        ratios.append((found, f"{best} to {worst} at {merit_title(panel.merit)}"))
    found, words = min(ratios)
    reason = "tuned for fairness too, the conventional policy spreads its exposure"
    value = f"{found.value:.3g}: {words}"
    return judged(found, min(r.low for r, _ in ratios) > 2, reason, value)


def _range(regrets: list[Vector], runs: Indices) -> float:
    return float(np.ptp([regret[runs].mean() for regret in regrets]))


def _deviation(regrets: list[Vector], runs: Indices) -> float:
    return float(np.mean([spread(regret[runs]) for regret in regrets]))


def _grows(of: str, outcome: Outcome) -> Finding:
    """Compare a number at the steepest merit with that at the flattest."""
    measure, labels = MEASURES[of], roles(outcome).fair
    regrets = [[fairness(panel, label) for label in labels] for panel in _by_steepness(outcome)]
    runs = min(len(regret) for row in regrets for regret in row)
    found = resampled_interval(
        lambda some: measure(regrets[-1], some) - measure(regrets[0], some), runs
    )
    each = ", ".join(f"{measure(row, np.arange(runs)):.3g}" for row in regrets)
    reason = f"the runs do not show it; from flat to steep: {each}"
    return judged(found, found.low > 0, reason)


MEASURES = {"difference between the algorithms": _range, "variance of the runs": _deviation}


def _by_steepness(outcome: Outcome) -> list[Panel]:
    panels = [panel for panel in outcome.panels if isinstance(panel.merit, Exponential)]
    if len(panels) < 2:
        raise Missing(f"{outcome.experiment.name} has not two exponential merits to compare yet")
    return sorted(panels, key=lambda panel: panel.merit.steepness)  # type: ignore[attr-defined]


STATEMENTS = [
    *(
        Statement(
            "Conventional policies suffer much larger fairness regret than FairX algorithms "
            f"({what}, every c).",
            f"Sections 5.2 to 5.4, {where}",
            "fairness regret of the better conventional policy over that of the worst of the "
            "paper's three FairX algorithms, the least over c: above 2, with the whole interval",
            (name,),
            _much_larger,
        )
        for name, (where, what) in FIGURES.items()
    ),
    *(
        Statement(
            f"The steeper the merit, the larger the {of} ({FIGURES[name][1]}).",
            f"Section 5.3 and appendix, {FIGURES[name][0]}",
            f"{words} at the steepest merit less that at the flattest, bootstrap interval: above "
            "0, with the whole interval",
            (name,),
            partial(_grows, of),
        )
        for name in ("figA1", "figA2", "figA3", "figA4")
        for of, words in (
            (
                "difference between the algorithms",
                "range of the mean fairness regrets of the paper's three FairX algorithms",
            ),
            (
                "variance of the runs",
                "mean over the paper's three FairX algorithms of the deviation of fairness regret",
            ),
        )
    ),
]
