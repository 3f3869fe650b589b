"""What the service answers about slates, typed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .answers import Received


class Placed(Struct, frozen=True):
    """An arm at a place of a slate, with the probability that it had there."""

    arm: str
    place: int
    propensity: float


class Slate(Struct, frozen=True):
    """Arms at places, as they were answered."""

    decision: str
    slate: tuple[Placed, ...]  # the first place first
    snapshot: int
    exposures: dict[str, float] | None = None  # on request; of all candidates
    left_out: tuple[str, ...] = ()  # candidates that are paused

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms in the order of their places."""
        return tuple(placed.arm for placed in self.slate)


class PlaceDecision(Struct, frozen=True):
    """All that the service knows of a place of a slate."""

    place: int
    arm: str
    weight: float
    propensity: float
    shown: float | None
    status: Literal["waiting", "mature"]
    due: float
    reward: float | None  # what was learned
    rewards: tuple[Received, ...]


class SlateDecision(Struct, frozen=True):
    """All that the service knows of a slate."""

    decision: str
    time: float
    snapshot: int
    slate: tuple[PlaceDecision, ...]
    exposures: dict[str, float]
    contexts: tuple[tuple[float, ...], ...] | None = None
    unit: str | None = None
