"""What a bandit decided, and how a notebook shows it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx.texts import table
from fairx.types import Vector


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


def _decision_page(decision: Decision) -> str:
    """Return what a notebook shows of a decision: the likeliest arms first."""
    order = np.argsort(-decision.probabilities, kind="stable")[:10]
    rows = [(str(decision.arms[i]), f"{decision.probabilities[i]:.4g}") for i in order]
    left = len(decision.arms) - len(rows)
    rows += [("…", f"{left} more")] if left else []
    return table(f"decision {decision.id}: {decision.arm}", rows)


Decision._repr_html_ = _decision_page  # type: ignore[attr-defined]
