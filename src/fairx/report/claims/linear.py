"""How the FairX algorithms compare with contexts: Section 5.4, Figures 3 and A6."""

from __future__ import annotations

import itertools

import numpy as np

from fairx.experiments.outcome import Panel
from fairx.report.estimates import (
    Estimate,
    Sample,
    difference,
    least,
    mean_of,
    most,
    ordered_pairs,
    ratio,
)

from .claim import Finding, Rule, Statement
from .evidence import LINEAR, Evidence, chosen, exponents, fairness, find, panel_at, reward

FAIR = LINEAR.fair
SECTION = "Section 5.4, Figure 3"
APPENDIX = "Appendix, Figure A6"
FIGURE_3, FIGURE_A6 = ("fig3", "figA3"), ("figA6",)
MISSPECIFIED, SPECIFIED = 3, 2  # the steepness of either figure


def _shares(panel: Panel) -> dict[str, dict[str, Sample]]:
    """Return both regrets of each algorithm, in shares of the run's mean fairness regret."""
    regrets = {"fairness": fairness, "reward": reward}
    unit = sum(fairness(panel, label).values for label in FAIR) / len(FAIR)
    found: dict[str, dict[str, Sample]] = {}
    for name, measure in regrets.items():
        samples = {label: measure(panel, label) for label in FAIR}
        found[name] = {
            label: one._replace(values=one.values / unit) for label, one in samples.items()
        }
    return found


def _no_winner(evidence: Evidence) -> Finding:
    shares = _shares(panel_at(evidence, MISSPECIFIED))
    leads = {label: _lead(shares, label) for label in FAIR}
    found = most(leads)._replace(
        name=max(leads, key=lambda label: float(np.mean(leads[label].value)))
    )
    return Finding(found, found.name, f"{found.name} leads on both regrets")


def _lead(shares: dict[str, dict[str, Sample]], label: str) -> Estimate:
    """Return by how much an algorithm is below both others on both regrets."""
    return least(
        {
            f"{name} regret of {rival}": difference(regrets[rival], regrets[label])
            for name, regrets in shares.items()
            for rival in FAIR
            if rival != label
        }
    )


def _trade_off(evidence: Evidence) -> Finding:
    fair, earning = _shares(panel_at(evidence, MISSPECIFIED)).values()
    trades = {
        f"{one} is fairer, {two} earns more": least(
            {"": difference(fair[two], fair[one]), " ": difference(earning[one], earning[two])}
        )._replace(name="")
        for one, two in itertools.permutations(FAIR, 2)
    }
    found = most(trades)
    return Finding(found, found.name, "the fairer of any two algorithms earns more too")


def _similar(evidence: Evidence) -> Finding:
    panel = panel_at(evidence, MISSPECIFIED)
    pairs = ordered_pairs({label: fairness(panel, label) for label in FAIR})
    found = most({names: ratio(*pair) for names, pair in pairs.items()})
    return Finding(found, found.name, f"{found.name} is far")


def _no_convergence(evidence: Evidence) -> Finding:
    panel = panel_at(evidence, MISSPECIFIED)
    found = least({label: mean_of(exponents(panel, label)) for label in FAIR})
    rounds = find(panel, found.name).result.rounds[-1]
    reason = (
        f"{chosen(panel, found.name)} still learns after {rounds:,} rounds, so that misspecification "
        "does not dominate yet"
    )
    return Finding(found, _late_regrets(panel), reason)


def _late_regrets(panel: Panel) -> str:
    """Return the regret a round at the end, beside that of the fixed point."""
    late = {label: _late_regret(panel, label) for label in FAIR}
    told = ", ".join(f"{label} {value:.3g}" for label, value in late.items())
    return f"a round in the last half: {told}; least squares settles at {panel.settles:.3g}"


def _late_regret(panel: Panel, label: str) -> float:
    result = find(panel, label).result
    total, half = result.fairness_regret, result.rounds[-1] / 2
    mean = total.reshape(-1, total.shape[-1]).mean(axis=0)
    return float((mean[-1] - np.interp(half, [0, *result.rounds], [0, *mean])) / half)


def _root(evidence: Evidence) -> Finding:
    panel = panel_at(evidence, SPECIFIED)
    parts = {}
    for label in FAIR:
        found = exponents(panel, label)
        parts[f"{label}, faster"] = mean_of(found._replace(values=found.values - 0.5))
        parts[f"{label}, slower"] = mean_of(found._replace(values=0.5 - found.values))
    far = most(parts)
    reason = f"{far.name} than the root; it may take more rounds to see the rate"
    return Finding(far, far.name, reason)


def _better(misspecified: Evidence, specified: Evidence) -> Finding:
    before, after = panel_at(misspecified, MISSPECIFIED), panel_at(specified, SPECIFIED)
    found = least(
        {label: difference(exponents(before, label), exponents(after, label)) for label in FAIR}
    )
    reason = f"{found.name} grows no faster with the model that does not fit"
    return Finding(found, found.name, reason)


STATEMENTS = [
    Statement(
        "There is no clear winner between the three linear FairX algorithms.",
        SECTION,
        "by how much an algorithm is below both others on both regrets, run by run, in shares of the "
        "three's mean fairness regret, the greatest over the three: a clear winner has 0.2",
        Rule(high=0.2),
        (FIGURE_3,),
        _no_winner,
    ),
    Statement(
        "There are trade-offs between reward regret and fairness regret.",
        SECTION,
        "by how much one algorithm is fairer and another earns more, the lesser of both, run by run, in "
        "shares of the three's mean fairness regret, the greatest over all pairs",
        Rule(low=0),
        (FIGURE_3,),
        _trade_off,
    ),
    Statement(
        "All three linear FairX algorithms show a qualitatively similar behaviour.",
        SECTION,
        "fairness regret of one over that of another, geometric mean of the runs, the greatest over all "
        "pairs",
        Rule(high=2),
        (FIGURE_3,),
        _similar,
    ),
    Statement(
        "The fairness regret no longer converges, as the linear model is misspecified.",
        SECTION,
        "exponent fitted to the last decade of rounds, mean of the runs, the least of the three",
        Rule(low=0.75),
        (FIGURE_3,),
        _no_convergence,
    ),
    Statement(
        "With a well-specified model the fairness regret follows the square root of T.",
        APPENDIX,
        "distance from 0.5 of the exponent fitted to the last decade of rounds, mean of the runs, the "
        "greatest of the three",
        Rule(high=0.1),
        (FIGURE_A6,),
        _root,
    ),
    Statement(
        "With a well-specified model the fairness regret converges better.",
        f"{APPENDIX} (and 3)",
        "exponent of Figure 3 (c = 3) less that of Figure A6 (c = 2), the least of the three; the "
        "problems differ, so that runs are not paired",
        Rule(low=0),
        (FIGURE_3, FIGURE_A6),
        _better,
    ),
]
