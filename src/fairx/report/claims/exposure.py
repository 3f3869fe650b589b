"""How unfair are conventional bandits: Section 5.2, Figure 1."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from fairx.experiments.outcome import Outcome, Panel
from fairx.report.metrics import distance, ratio_interval
from fairx.simulation.bands import mean_interval
from fairx.types import Vector

from .claim import MAB, Finding, Statement, find, judged, only

WHERE = "Section 5.2, Figure 1"


def _under_exposed(label: str, outcome: Outcome) -> Finding:
    panel = only(outcome)
    result = find(panel, label).results[0]
    count = mean_interval((result.exposure < panel.fair / 2).sum(axis=1))
    arms, rounds = len(panel.fair), result.rounds[-1]
    reason = f"{label}, as tuned, still explores so much that fewer than {arms / 2:g} arms miss out"
    value = f"{count.value:.1f} of {arms} arms after {rounds:,} rounds"
    return judged(count, count.low >= arms / 2, reason, value)


def _concentrated(label: str, outcome: Outcome) -> Finding:
    panel = only(outcome)
    exposure = find(panel, label).result.exposure
    share = mean_interval(exposure.max(axis=1))
    best = Counter(exposure.argmax(axis=1).tolist()).most_common()
    arms = ", ".join(f"arm {arm} in {runs}" for arm, runs in best)
    both = exposure[:, _best_two(panel)].sum(axis=1).mean()
    reason = f"the two best arms are hard to tell apart: together they have {both:.2f}"
    return judged(share, share.low > 0.9, reason, f"{share.value:.3f} ({arms} of {len(exposure)})")


def _nearly_equal(outcome: Outcome) -> Finding:
    panel = only(outcome)
    first, second = _best_two(panel)
    ratio = panel.fair[second] / panel.fair[first]
    reason = "the part of the data that was played has other means than all of it"
    return Finding(ratio >= 0.8, f"{ratio:.3f}: arm {second} to arm {first}", reason=reason)


def _tracks(label: str, outcome: Outcome) -> Finding:
    panel = only(outcome)
    ratios = [
        ratio_interval(
            min((_distances(panel, name, horizon) for name in MAB.conventional), key=np.mean),
            _distances(panel, label, horizon),
        )
        for horizon in (0, -1)
    ]
    least = min(ratios)
    reason = "the exploration that tuning chose keeps it from the fair allocation for long"
    return judged(least, all(ratio.low > 2 for ratio in ratios), reason)


def _converges(label: str, outcome: Outcome) -> Finding:
    panel = only(outcome)
    first, last = (mean_interval(_distances(panel, label, horizon)) for horizon in (0, -1))
    rounds = find(panel, label).results[0].rounds[-1]
    reason = f"exploration weighs on the average still; it was {first.value:.3g} before"
    value = f"{last.value:.2g}, from {first.value:.2g} after {rounds:,} rounds"
    return judged(last, last.high < min(0.05, first.value), reason, value)


def _best_two(panel: Panel) -> list[int]:
    best: list[int] = np.argsort(-panel.fair, kind="stable")[:2].tolist()
    return best


def _distances(panel: Panel, label: str, horizon: int) -> Vector:
    return distance(find(panel, label).results[horizon].exposure, panel.fair)


STATEMENTS = [
    *(
        Statement(
            f"Already after 2,000 rounds, conventional {label} under-exposes many arms.",
            WHERE,
            "arms shown less than half of their fair share after the shorter horizon: "
            "at least half of all arms, with the whole interval",
            ("fig1",),
            partial(_under_exposed, label),
        )
        for label in MAB.conventional
    ),
    *(
        Statement(
            f"In the end, conventional {label} puts virtually all exposure on one arm (11, "
            "counting from 0).",
            WHERE,
            "exposure of the arm that a run showed most: above 0.9, with the whole interval",
            ("fig1",),
            partial(_concentrated, label),
        )
        for label in MAB.conventional
    ),
    Statement(
        "It does so even though arm 12 has only slightly lower merit than arm 11.",
        WHERE,
        "merit of the second best arm over that of the best: at least 0.8",
        ("fig1",),
        _nearly_equal,
    ),
    *(
        Statement(
            f"{label} tracks the optimal exposure substantially better than conventional bandits.",
            WHERE,
            "L1 distance to the fair exposure, the nearer of UCB and TS over this, the lesser of "
            "both horizons: above 2 at both, with the whole interval",
            ("fig1",),
            partial(_tracks, label),
        )
        for label in (MAB.ucb, MAB.ts)
    ),
    *(
        Statement(
            f"{label} converges to the optimally fair exposure.",
            WHERE,
            "L1 distance (0 to 2) to the fair exposure at the longest horizon: less than at the "
            "shorter one and below 0.05, with the whole interval",
            ("fig1",),
            partial(_converges, label),
        )
        for label in (MAB.ucb, MAB.ts)
    ),
]
