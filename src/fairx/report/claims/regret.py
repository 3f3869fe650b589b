"""How the FairX algorithms compare without contexts: Section 5.3, Figure 2."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from fairx import theory
from fairx.experiments.outcome import Panel
from fairx.pages import number
from fairx.report.estimates import Estimate, Missing, difference, least, mean_of, most, ratio
from fairx.simulation.bands import ALPHA

from .claim import Finding, Rule, Statement
from .evidence import MAB, Evidence, Measure, chosen, exponents, fairness, find, panel_at, reward

WHERE = "Section 5.3, Figure 2"
NEEDS = (("fig2", "figA1"),)  # Figure 2 is the third panel of Figure A1
STEEPNESS = 10
ROOT = Rule(0.4, 0.6)
RIVALS = {MAB.ucb: (MAB.ts, MAB.eg), MAB.eg: (MAB.ucb, MAB.ts)}


def _grows_like_root(label: str, evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    found = mean_of(exponents(panel, label))
    faster = "it does not level off in time: more rounds are needed to see the rate"
    slower = "it grows more slowly than the bound allows: better than predicted"
    note = _ours(panel, ROOT, lambda ours: mean_of(exponents(panel, ours)), label)
    return Finding(found, note, slower if np.mean(found.value) < ROOT.low else faster)


def _far_below(label: str, bound: Callable[[int, int], float], evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    worst = bound(int(find(panel, label).result.rounds[-1]), len(panel.fair))
    found = reward(panel, label)
    note = f"played: {chosen(panel, label)}; the bound is {worst:,.0f}"
    reason = "the bound is small at so few rounds"
    return Finding(mean_of(found._replace(values=found.values / worst)), note, reason)


def _best_reward(evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)

    def lead(label: str) -> Estimate:
        return least(_differences(panel, reward, RIVALS[MAB.ucb], (label,)))

    found = lead(MAB.ucb)
    note = _ours(panel, Rule(low=0), lead, MAB.ucb)
    return Finding(found, note, f"{found.name} does better, with the settings of the search")


def _pays(evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)

    def excess(label: str) -> Estimate:
        return difference(fairness(panel, label), fairness(panel, MAB.ts))

    note = _ours(panel, Rule(low=0), excess, MAB.ucb)
    reason = f"the search for the least fairness regret left {chosen(panel, MAB.ucb)} the fairer"
    return Finding(excess(MAB.ucb), note, reason)


def _ours(panel: Panel, rule: Rule, estimate: Callable[[str], Estimate], label: str) -> str:
    """Return what our solver says to a claim about FairX-UCB, which counts once."""
    if label != MAB.ucb:
        return ""
    try:
        found = estimate(MAB.ours).at(ALPHA)
    except Missing:
        return ""
    ends = f" [{number(found.low)} to {number(found.high)}]" if math.isfinite(found.low) else ""
    return f"with our exact solver, by itself: {number(found.value)}{ends}, {rule.verdict(found)}"


def _differences(
    panel: Panel, measure: Measure, larger: tuple[str, ...], smaller: tuple[str, ...]
) -> dict[str, Estimate]:
    return {
        one if len(larger) > 1 else two: difference(measure(panel, one), measure(panel, two))
        for one in larger
        for two in smaller
    }


def _wins_not(measure: Measure, evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    found = most(_differences(panel, measure, (MAB.eg,), RIVALS[MAB.eg]))
    reason = "fair policies explore by themselves, and it explores little on top: "
    return Finding(found, f"behind {found.name}", reason + chosen(panel, MAB.eg))


def _does_well(evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    eg = fairness(panel, MAB.eg)
    found = most({label: ratio(eg, fairness(panel, label)) for label in RIVALS[MAB.eg]})
    return Finding(found, f"to {found.name}", f"{found.name} explores to better effect")


def _negative(evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    found = least({label: mean_of(reward(panel, label)) for label in MAB.conventional})
    reason = "learning cost more than what unfairness gains in so few rounds"
    return Finding(found, found.name, reason)


def _statement(
    sentence: str, statistic: str, rule: Rule, judge: Callable[..., Finding]
) -> Statement:
    return Statement(sentence, WHERE, statistic, rule, NEEDS, judge)


STATEMENTS = [
    *(
        _statement(
            f"The fairness regret of {label} grows roughly like the square root of T.",
            "exponent fitted to the last decade of rounds, mean of the runs",
            ROOT,
            partial(_grows_like_root, label),
        )
        for label in MAB.fair
    ),
    *(
        _statement(
            f"The reward regret of {label} is far below its worst-case bound.",
            f"reward regret over {words}",
            Rule(high=0.1),
            partial(_far_below, label, bound),
        )
        for label, bound, words in (
            (
                MAB.ucb,
                theory.ucb_reward_bound,
                (
                    "the bound of Theorem 3.2.2 at delta = 0.05, which is for the exact solver and the width "
                    "√(2 ln(4TK/delta)), and not for the gradient steps and the tuned width that are played"
                ),
            ),
            (
                MAB.ts,
                theory.ts_reward_bound,
                (
                    "the bound of Theorem 3.3.2, which is Bayesian and for prior and reward deviations of 1, "
                    "and not for the tuned ones that are played"
                ),
            ),
        )
    ),
    _statement(
        f"{MAB.ucb} has the best reward regret of the FairX algorithms.",
        "reward regret of FairX-TS or of FairX-EG less this one's, run by run, the lesser of both",
        Rule(low=0),
        _best_reward,
    ),
    _statement(
        f"{MAB.ucb} violates fairness more than FairX-TS.",
        "fairness regret less that of FairX-TS, run by run",
        Rule(low=0),
        _pays,
    ),
    *(
        _statement(
            f"FairX-EG does not win on {name} regret.",
            f"{name} regret less that of FairX-UCB (gradient) or of FairX-TS, run by run, the greater "
            "of both",
            Rule(low=0),
            partial(_wins_not, measure),
        )
        for name, measure in (("fairness", fairness), ("reward", reward))
    ),
    _statement(
        "FairX-EG nevertheless does surprisingly well.",
        "fairness regret over that of FairX-UCB (gradient) or of FairX-TS, geometric mean of the runs, "
        "the greater of both",
        Rule(high=2),
        _does_well,
    ),
    _statement(
        "An unfair policy can get more reward than the optimal fair one: a negative reward regret "
        "is possible.",
        "reward regret of UCB or TS, mean of the runs, the lesser of both",
        Rule(high=0),
        _negative,
    ),
]
