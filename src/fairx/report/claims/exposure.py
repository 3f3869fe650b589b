"""How unfair are conventional bandits: Section 5.2, Figure 1."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from fairx.report.estimates import (
    Sample,
    geometric_mean,
    known,
    least,
    most,
    ratio,
    share_of_runs,
)

from .claim import Finding, Rule, Statement
from .evidence import MAB, Evidence, find, panel_at, sample, unfairness

WHERE = "Section 5.2, Figure 1"
STEEPNESS = 4
BEST, SECOND = 11, 12  # arms of yeast, counted from 0 as in the paper's figure
NEAR = 0.05
TYPICAL = Rule(low=0.5)  # "a typical run": more than half of them


def _under_exposed(label: str, evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    curve = find(panel, label)
    result = curve.results[0]
    count = (result.exposure < panel.fair / 2).sum(axis=-1)
    arms, rounds = len(panel.fair), result.rounds[-1]
    hits = sample(curve, (count >= arms / 2).astype(float), 0)
    note = f"{count.mean():.1f} of {arms} arms on average after {rounds:,} rounds"
    return Finding(share_of_runs(hits), note, f"{label}, as tuned, still explores")


def _concentrated(label: str, evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    curve = find(panel, label)
    exposure = curve.result.exposure
    hits = sample(curve, (exposure[..., BEST] > 0.9).astype(float))
    best = Counter(exposure.argmax(axis=-1).ravel().tolist()).most_common()
    arms = ", ".join(f"arm {arm} in {runs}" for arm, runs in best)
    note = f"most shown: {arms} of {exposure[..., 0].size} runs"
    both = exposure[..., [BEST, SECOND]].sum(axis=-1).mean()
    reason = f"arms {BEST} and {SECOND} are hard to tell apart: together they have {both:.2f}"
    return Finding(share_of_runs(hits), note, reason)


def _nearly_equal(evidence: Evidence) -> Finding:
    fair = panel_at(evidence, STEEPNESS).fair
    reason = "the part of the data that was played has other means than all of it"
    return Finding(known(float(fair[SECOND] / fair[BEST])), reason=reason)


def _tracks(label: str, evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    rounds = [result.rounds[-1] for result in find(panel, label).results]
    ratios = {
        f"{rival} after {rounds[horizon]:,} rounds": ratio(
            unfairness(panel, rival, horizon), unfairness(panel, label, horizon)
        )
        for rival in MAB.conventional
        for horizon in (0, -1)
    }
    reason = "the exploration that tuning chose keeps it from the fair allocation for long"
    return Finding(least(ratios), reason=reason)


def _converges(label: str, evidence: Evidence) -> Finding:
    panel = panel_at(evidence, STEEPNESS)
    early, late = (unfairness(panel, label, horizon) for horizon in (0, -1))
    parts = {f"to {NEAR}": geometric_mean(_over(late, NEAR)), "to before": ratio(late, early)}
    note = f"{np.mean(late.values):.2g} on average, from {np.mean(early.values):.2g}"
    return Finding(most(parts), note, "exploration weighs on the average still")


def _over(found: Sample, scale: float) -> Sample:
    return found._replace(values=found.values / scale)


def _statement(sentence: str, statistic: str, rule: Rule, judge: object) -> Statement:
    return Statement(sentence, WHERE, statistic, rule, (("fig1",),), judge)  # type: ignore[arg-type]


STATEMENTS = [
    *(
        _statement(
            f"Already after 2,000 rounds, conventional {label} under-exposes many arms.",
            "share of the runs in which, at the shorter horizon, half of all arms or more have less "
            "than half of their fair share",
            TYPICAL,
            partial(_under_exposed, label),
        )
        for label in MAB.conventional
    ),
    *(
        _statement(
            f"In the end, conventional {label} puts virtually all exposure on arm {BEST}.",
            f"share of the runs in which arm {BEST} (counted from 0) has more than 0.9 of all exposure",
            TYPICAL,
            partial(_concentrated, label),
        )
        for label in MAB.conventional
    ),
    _statement(
        f"It does so even though arm {SECOND} has only slightly lower merit than arm {BEST}.",
        f"merit of arm {SECOND} over that of arm {BEST}, known without runs",
        Rule(0.8, 1),
        _nearly_equal,
    ),
    *(
        _statement(
            f"{label} tracks the optimal exposure substantially better than conventional bandits.",
            "L1 distance to the fair exposure of UCB or TS over this one's, geometric mean of the "
            "runs, the least of both policies and both horizons",
            Rule(low=2),
            partial(_tracks, label),
        )
        for label in (MAB.ucb, MAB.ts)
    ),
    *(
        _statement(
            f"{label} converges to the optimally fair exposure.",
            "L1 distance (0 to 2) to the fair exposure at the longest horizon, geometric mean of the "
            f"runs, over {NEAR} and over that at the shorter horizon, the greater of both",
            Rule(high=1),
            partial(_converges, label),
        )
        for label in (MAB.ucb, MAB.ts)
    ),
]
