"""How the FairX algorithms compare without contexts: Section 5.3, Figure 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fairx import theory
from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.report.metrics import (
    difference_interval,
    growth_exponents,
    ratio_interval,
)
from fairx.simulation.bands import Interval, mean_interval
from fairx.types import Vector

from .claim import (
    MAB,
    Finding,
    Measure,
    Statement,
    chosen,
    fairness,
    find,
    judged,
    lowest,
    only,
    reward,
)

WHERE = "Section 5.3, Figure 2"
WHOSE = {MAB.ours: " (our solver, not in the paper)"}


def exponents(curve: Curve, decades: float = 1.0) -> Vector:
    """Return the growth exponent of the fairness regret of each run."""
    return growth_exponents(curve.result.rounds, curve.result.fairness_regret, decades)


def _grows_like_root(label: str, outcome: Outcome) -> Finding:
    curve = find(only(outcome), label)
    found, longer = mean_interval(exponents(curve)), exponents(curve, decades=2).mean()
    reason = f"it does not level off in time: it is {longer:.2f} over the last two decades"
    if found.high < 0.4:
        reason = "it grows more slowly than the bound allows: better than predicted"
    return judged(found, found.low <= 0.6 and 0.4 <= found.high < 1, reason)


def _far_below(label: str, bound: Callable[[int, int], float], outcome: Outcome) -> Finding:
    panel = only(outcome)
    worst = bound(int(find(panel, label).result.rounds[-1]), len(panel.fair))
    found = mean_interval(reward(panel, label) / worst)
    return judged(found, found.high < 0.1, f"the bound is only {worst:,.0f} at so few rounds")


def _best_reward(label: str, outcome: Outcome) -> Finding:
    panel = only(outcome)
    rival = lowest(panel, (MAB.ts, MAB.eg), reward)
    found = difference_interval(reward(panel, rival), reward(panel, label))
    reason = f"{chosen(panel, rival)} does better, with the settings of the search"
    return judged(found, found.low > 0, _or_undecided(found, panel, label, reason))


def _pays(label: str, outcome: Outcome) -> Finding:
    panel = only(outcome)
    found = difference_interval(fairness(panel, label), fairness(panel, MAB.ts))
    reason = f"the search for the least fairness regret left {chosen(panel, label)} fairer than "
    reason = _or_undecided(found, panel, label, reason + chosen(panel, MAB.ts))
    return judged(found, found.low > 0, reason)


def _or_undecided(found: Interval, panel: Panel, label: str, reason: str) -> str:
    """Return the reason for a difference, if there is one."""
    if found.high < 0:
        return reason
    return (
        "the difference is within the noise of these runs: the search for the least fairness "
        f"regret chose {chosen(panel, label)}, which leaves little optimism"
    )


def _wins_not(measure: Measure, outcome: Outcome) -> Finding:
    panel = only(outcome)
    rival = lowest(panel, (MAB.ucb, MAB.ts), measure)
    found = difference_interval(measure(panel, MAB.eg), measure(panel, rival))
    reason = "fair policies explore by themselves, and it explores little on top: "
    return judged(found, found.high >= 0, reason + chosen(panel, MAB.eg))


def _does_well(outcome: Outcome) -> Finding:
    panel = only(outcome)
    rival = lowest(panel, (MAB.ucb, MAB.ts), fairness)
    found = ratio_interval(fairness(panel, MAB.eg), fairness(panel, rival))
    return judged(found, found.high < 2, f"{chosen(panel, rival)} explores to better effect")


def _negative(outcome: Outcome) -> Finding:
    panel = only(outcome)
    found = mean_interval(reward(panel, lowest(panel, MAB.conventional, reward)))
    reason = "learning cost more than what unfairness gains in so few rounds"
    return judged(found, found.high < 0, reason)


def _statement(sentence: str, statistic: str, judge: Callable[..., Finding]) -> Statement:
    return Statement(sentence, WHERE, statistic, ("fig2",), judge)


STATEMENTS = [
    *(
        _statement(
            f"The fairness regret of {label} grows roughly like the square root of T"
            f"{WHOSE.get(label, '')}.",
            "exponent fitted to the last decade of rounds: its interval reaches 0.4 to 0.6 and excludes 1",
            partial(_grows_like_root, label),
        )
        for label in (*MAB.fair, MAB.ours)
    ),
    *(
        _statement(
            f"The reward regret of {label} is far below its worst-case bound.",
            f"reward regret over {words}: below 0.1, with the whole interval",
            partial(_far_below, label, bound),
        )
        for label, bound, words in (
            (MAB.ucb, theory.ucb_reward_bound, "the bound (at delta = 0.05)"),
            (MAB.ts, theory.ts_reward_bound, "the bound (a Bayesian one, for the normal prior)"),
        )
    ),
    *(
        _statement(
            f"{label} has the best reward regret of the FairX algorithms{WHOSE.get(label, '')}.",
            "reward regret of the better of FairX-TS and FairX-EG, less this: above 0, with the "
            "whole interval",
            partial(_best_reward, label),
        )
        for label in (MAB.ucb, MAB.ours)
    ),
    *(
        _statement(
            f"{label} violates fairness more than FairX-TS{WHOSE.get(label, '')}.",
            "fairness regret less that of FairX-TS: above 0, with the whole interval",
            partial(_pays, label),
        )
        for label in (MAB.ucb, MAB.ours)
    ),
    *(
        _statement(
            f"FairX-EG does not win on {name} regret.",
            f"{name} regret less the better of FairX-UCB (gradient) and FairX-TS: not below 0 "
            "with the whole interval, as a tie is no win",
            partial(_wins_not, measure),
        )
        for name, measure in (("fairness", fairness), ("reward", reward))
    ),
    _statement(
        "FairX-EG nevertheless does surprisingly well.",
        "fairness regret over the better of FairX-UCB (gradient) and FairX-TS: below 2, with the "
        "whole interval",
        _does_well,
    ),
    _statement(
        "An unfair policy can get more reward than the optimal fair one: a negative reward regret "
        "is possible.",
        "the lower reward regret of UCB and TS: below 0, with the whole interval",
        _negative,
    ),
]
