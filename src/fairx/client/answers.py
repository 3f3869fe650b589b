"""What the service answers, typed. Fields that a newer service adds are passed over."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType


class Arm(Struct, frozen=True):
    """An arm of an experiment."""

    name: str
    status: Literal["active", "paused", "removed"]


class Experiment(Struct, frozen=True):
    """An experiment's settings, and where it stands."""

    name: str
    status: Literal["running", "paused"]
    arms: tuple[Arm, ...]
    policy: dict[str, Any]
    dimension: int
    reward_window_s: float
    missing_reward: float | None  # None: a decision without a reward teaches nothing
    floor: float
    reward_range: tuple[float, float] | None
    requires_shown: bool
    snapshot: int
    created: float  # seconds since 1970
    features: dict[str, Any] | None = None  # what contexts are made of, by name


class Choice(Struct, frozen=True):
    """A decision, as it was answered."""

    decision: str
    arm: str
    propensity: float
    snapshot: int
    probabilities: dict[str, float] | None = None  # on request
    left_out: tuple[str, ...] = ()  # candidates that are paused


class Reward(Struct, frozen=True):
    """A reward to send; of a slate, with its place, from 1.

    A decision's reward, and that of a place, is the sum of those with different ids.
    """

    decision: str
    reward: float
    id: str = ""
    final: bool = False
    place: int | UnsetType = UNSET


class Received(Struct, frozen=True):
    """A reward that the service holds."""

    id: str
    reward: float
    final: bool
    late: bool
    time: float


class Decision(Struct, frozen=True):
    """All that the service knows of a decision."""

    decision: str
    time: float
    arm: str
    propensity: float
    snapshot: int
    probabilities: dict[str, float]
    shown: float | None
    status: Literal["waiting", "mature"]
    due: float
    reward: float | None  # what was learned
    rewards: tuple[Received, ...]
    contexts: tuple[tuple[float, ...], ...] | None = None
    unit: str | None = None


class Shown(Struct, frozen=True):
    """What became of a shown event."""

    decision: str
    status: Literal["accepted", "duplicate", "late", "parked"]
    place: int | None = None  # of a slate


class Rewarded(Struct, frozen=True):
    """What became of a reward."""

    decision: str
    status: Literal["accepted", "duplicate", "late", "parked"]
    place: int | None = None  # of a slate


class ArmStatus(Struct, frozen=True):
    """An arm's counts."""

    arm: str
    status: Literal["active", "paused", "removed"]
    decisions: int
    rewards: int
    late: int
    missing: int
    waiting: int
    exposure: float | None = None  # where there are slates: its part of all places' weights


class Status(Struct, frozen=True):
    """An experiment's counts."""

    decisions: int
    mature: int
    waiting: int
    parked: int
    decisions_per_s: float  # over the last minute
    snapshot: int
    snapshot_age_s: float | None
    arms: tuple[ArmStatus, ...]


class Action(Struct, frozen=True):
    """An administrative action."""

    time: float
    actor: str
    action: str
    experiment: str | None
    detail: Any


class Token(Struct, frozen=True):
    """A token without its secret."""

    id: str
    name: str
    role: Literal["decide", "reward", "read", "admin"]
    experiment: str | None  # None: all of them
    created: float


class NewToken(Struct, frozen=True):
    """A new token. The secret is answered once: keep it."""

    id: str
    token: str
