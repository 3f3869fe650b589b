"""How the FairX algorithms compare with contexts: Section 5.4, Figures 3 and A6."""

from __future__ import annotations

import numpy as np

from fairx.experiments.outcome import Curve, Outcome
from fairx.report.metrics import difference_interval, ratio_interval
from fairx.simulation.bands import mean_interval

from .claim import (
    LINEAR,
    Finding,
    Measure,
    Statement,
    chosen,
    fairness,
    find,
    highest,
    judged,
    lowest,
    only,
    reward,
)
from .regret import exponents

FAIR = LINEAR.fair
MEASURES: tuple[Measure, ...] = (fairness, reward)


def _no_winner(outcome: Outcome) -> Finding:
    panel = only(outcome)
    best = _best_words(outcome)

    def beats(label: str, rival: str, measure: Measure) -> bool:
        return difference_interval(measure(panel, rival), measure(panel, label)).low > 0

    winners = [
        label
        for label in FAIR
        if all(beats(label, rival, by) for rival in FAIR if rival != label for by in MEASURES)
    ]
    return Finding(not winners, best, reason=f"{', '.join(winners)} leads on both regrets")


def _trade_off(outcome: Outcome) -> Finding:
    panel = only(outcome)
    first, second = (lowest(panel, FAIR, measure) for measure in MEASURES)
    reason = "the same algorithm has the lowest mean of both regrets"
    return Finding(first != second, _best_words(outcome), reason=reason)


def _similar(outcome: Outcome) -> Finding:
    panel = only(outcome)
    best, worst = lowest(panel, FAIR, fairness), highest(panel, FAIR, fairness)
    found = ratio_interval(fairness(panel, worst), fairness(panel, best))
    reason = f"{worst} is well behind {best}"
    return judged(found, found.high < 2, reason, f"{found.value:.3g}: {worst} to {best}")


def _no_convergence(outcome: Outcome) -> Finding:
    panel = only(outcome)
    found, label = min((mean_interval(exponents(find(panel, f))), f) for f in FAIR)
    before, after = _per_round(find(panel, label))
    reason = (
        f"{chosen(panel, label)} still learns: its regret per round fell from {before:.3g} in the "
        f"first tenth to {after:.3g} in the last, so misspecification does not dominate yet"
    )
    return judged(found, found.low > 0.75, reason, f"{found.value:.2f} ({label})")


def _per_round(curve: Curve) -> tuple[float, float]:
    """Return the mean fairness regret of a round in the first tenth and in the last."""
    rounds, mean = curve.result.rounds, curve.result.fairness_regret.mean(axis=0)
    first, last = np.searchsorted(rounds, (rounds[-1] / 10, 0.9 * rounds[-1]))
    return mean[first] / rounds[first], (mean[-1] - mean[last]) / max(rounds[-1] - rounds[last], 1)


def _root(outcome: Outcome) -> Finding:
    found, label = max((mean_interval(exponents(find(only(outcome), f))), f) for f in FAIR)
    reason = f"{label} does not level off in time: more rounds are needed to see the rate"
    return judged(
        found, found.low <= 0.6 and found.high < 1, reason, f"{found.value:.2f} ({label})"
    )


def _better(misspecified: Outcome, specified: Outcome) -> Finding:
    before, after = only(misspecified), only(specified)
    found, label = min(
        (difference_interval(exponents(find(before, f)), exponents(find(after, f))), f)
        for f in FAIR
    )
    reason = f"{label} grows about as fast with either; misspecification is not what holds it"
    return judged(found, found.low > 0, reason, f"{found.value:.2f} ({label})")


def _best_words(outcome: Outcome) -> str:
    panel = only(outcome)
    names = [lowest(panel, FAIR, measure) for measure in MEASURES]
    return f"lowest fairness regret: {names[0]}; lowest reward regret: {names[1]}"


SECTION = "Section 5.4, Figure 3"
APPENDIX = "Appendix, Figure A6"
STATEMENTS = [
    Statement(
        "There is no clear winner between the three linear FairX algorithms.",
        SECTION,
        "no algorithm is below both others on both regrets, with whole intervals of the "
        "differences",
        ("fig3",),
        _no_winner,
    ),
    Statement(
        "There are trade-offs between reward regret and fairness regret.",
        SECTION,
        "the lowest mean reward regret and the lowest mean fairness regret are not of one algorithm",
        ("fig3",),
        _trade_off,
    ),
    Statement(
        "All three linear FairX algorithms show a qualitatively similar behaviour.",
        SECTION,
        "largest mean fairness regret over the smallest: below 2, with the whole interval",
        ("fig3",),
        _similar,
    ),
    Statement(
        "The fairness regret no longer converges, as the linear model is misspecified.",
        SECTION,
        "least of the three exponents fitted to the last decade of rounds: above 0.75, with the "
        "whole interval",
        ("fig3",),
        _no_convergence,
    ),
    Statement(
        "With a well-specified model the fairness regret follows the square root of T.",
        APPENDIX,
        "largest of the three exponents fitted to the last decade of rounds: its interval reaches 0.6 "
        "or less and excludes 1",
        ("figA6",),
        _root,
    ),
    Statement(
        "With a well-specified model the fairness regret converges better.",
        f"{APPENDIX} (and 3)",
        "exponent of Figure 3 less that of Figure A6, the least of the three: above 0, with the "
        "whole interval",
        ("fig3", "figA6"),
        _better,
    ),
]
