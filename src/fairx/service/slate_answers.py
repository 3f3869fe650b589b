"""What goes out about slates, as types."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from .answers import RewardOut


class Placed(Struct):
    """An arm at a place of a slate, with the probability that it had there."""

    arm: str
    place: int
    propensity: float


class DecidedSlate(Struct, omit_defaults=True):
    """Arms at places, the first place first; `exposures` are of all candidates."""

    decision: str
    slate: list[Placed]
    snapshot: int
    exposures: dict[str, float] | UnsetType = UNSET
    left_out: list[str] | UnsetType = UNSET


class PlaceOut(Struct):
    """A place of a slate on record."""

    place: int
    arm: str
    weight: float
    propensity: float
    status: Literal["waiting", "mature"]
    due: float
    rewards: list[RewardOut]
    reward: float | None  # what it was learned as
    shown: float | None


class SlateOut(Struct, omit_defaults=True):
    """A slate on record."""

    decision: str
    time: float
    snapshot: int
    slate: list[PlaceOut]
    exposures: dict[str, float]  # of all candidates
    contexts: list[list[float]] | UnsetType = UNSET
    unit: str | UnsetType = UNSET
