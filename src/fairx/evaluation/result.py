"""What an evaluation finds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fairx.types import Vector

from .fairness import Fairness
from .sequences import Looks
from .support import Diagnostics

APART = ("names", "exposures", "looks")  # fields that are told in another form


class Evaluation(NamedTuple):
    """What a policy would have brought, and whom it would have shown."""

    estimator: str
    reward: float  # per decision
    low: float  # nan where the interval is withheld
    high: float
    alpha: float  # the chance that the interval misses the value
    interval: str
    names: tuple[Any, ...]
    exposures: Vector  # of each arm: the target's average probability over the log's decisions
    decisions: int
    diagnostics: Diagnostics
    cautions: tuple[str, ...]  # in words: what makes the numbers doubtful
    looks: Looks | None = None  # of a confidence sequence
    withheld: tuple[str, ...] = ()  # in words: why there is no interval
    fairness: Fairness | None = None  # where a merit was given

    @property
    def level(self) -> float:
        """The old spelling of `alpha`: 1 - alpha."""
        return 1 - self.alpha

    def to_dict(self) -> dict[str, Any]:
        """Return all but the looks as plain values, for JSON; what is withheld is None."""
        arms: list[dict[str, Any]] = [
            {"arm": arm, "exposure": float(share)}
            for arm, share in zip(self.names, self.exposures, strict=True)
        ]
        if self.fairness is not None:
            arms = [arm | more for arm, more in zip(arms, self.fairness.rows(), strict=True)]
        plain = self._asdict() | {
            "low": None if math.isnan(self.low) else self.low,
            "high": None if math.isnan(self.high) else self.high,
            "level": self.level,
            "arms": arms,
            "diagnostics": self.diagnostics._asdict(),
            "cautions": list(self.cautions),
            "withheld": list(self.withheld),
            "fairness": self.fairness and self.fairness.summary(),
        }
        return {name: value for name, value in plain.items() if name not in APART}
