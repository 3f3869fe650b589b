"""What a bandit decided, one arm or a slate of them, and how a notebook shows both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.texts import short, table
from fairx.types import Matrix, Vector


class Decision(NamedTuple):
    """The arm to play, with all that is needed to learn from it or to audit it."""

    id: int
    arm: Any
    probability: float  # of the arm: its exact propensity
    probabilities: Vector  # of all arms on offer, in the order of `arms`
    arms: tuple[Any, ...]
    context: Vector  # of the arm

    def __repr__(self) -> str:
        among = f"among {len(self.arms)} arms"
        return (
            f"Decision({self.id}: arm {self.arm!r} with probability {self.probability:.4g} {among})"
        )


class SlateDecision(NamedTuple):
    """The arms to show, the first place first, with all that is needed to learn from them."""

    id: int
    arms: tuple[Any, ...]  # by place: the first is place 1
    propensities: Vector  # by place: how likely that arm was at that place
    exposures: Vector  # of all candidates: the expected weight of the place of each
    candidates: tuple[Any, ...]  # all arms on offer
    weights: Vector  # by place
    contexts: Matrix  # by place: of the arm there
    examination: Vector | None = (
        None  # by place: how likely it is looked at, of feedback "examined"
    )

    def __repr__(self) -> str:
        shown = short(list(self.arms))
        among = f"{len(self.arms)} places among {len(self.candidates)} arms"
        return f"SlateDecision({self.id}: {shown} on {among})"


Decided = Decision | SlateDecision | int  # or its id
Rewards = float | Sequence[float | Sequence[float]]  # one, or those of places or of decisions


def told(bandit: Any) -> list[tuple[str, str]]:
    """Return what is said of a bandit, by name."""
    clicks = [] if bandit.feedback == "each" else [("feedback", bandit.feedback)]
    return [
        ("policy", short(bandit.policy)),
        ("arms", short(list(bandit.arms))),
        ("dimension", str(bandit.dimension)),
        *clicks,
        ("decisions", str(bandit.decisions)),
        ("pending", str(len(bandit.pending))),
        ("seed", str(bandit.seed)),
    ]


def _decision_page(decision: Decision) -> str:
    """Return what a notebook shows of a decision: the likeliest arms first."""
    order = np.argsort(-decision.probabilities, kind="stable")[:10]
    rows = [(str(decision.arms[i]), f"{decision.probabilities[i]:.4g}") for i in order]
    left = len(decision.arms) - len(rows)
    rows += [("…", f"{left} more")] if left else []
    return table(f"decision {decision.id}: {decision.arm}", rows)


def _slate_page(slate: SlateDecision) -> str:
    """Return what a notebook shows of a slate: its first places."""
    shown = list(zip(slate.arms, slate.propensities, strict=True))
    rows = [(f"{place}. {arm}", f"{p:.4g}") for place, (arm, p) in enumerate(shown[:10], 1)]
    rows += [("…", f"{len(shown) - 10} more")] if len(shown) > 10 else []
    return table(f"decision {slate.id}: {len(shown)} places", rows)


SlateDecision._repr_html_ = _slate_page  # type: ignore[attr-defined]
Decision._repr_html_ = _decision_page  # type: ignore[attr-defined]
