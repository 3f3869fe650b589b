"""What goes out, as types: they write answers and describe them in the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from .requests import Role


class ArmState(Struct):
    """An arm."""

    name: str
    status: Literal["active", "paused", "removed"]


class ExperimentOut(Struct):
    """An experiment as it is now."""

    name: str
    status: Literal["running", "paused"]
    arms: list[ArmState]
    policy: dict[str, Any]
    dimension: int
    reward_window_s: float
    missing_reward: float | None
    floor: float
    reward_range: tuple[float, float] | None
    requires_shown: bool
    snapshot: int
    created: float
    features: dict[str, Any] | UnsetType = UNSET


class Experiments(Struct):
    """All experiments."""

    experiments: list[ExperimentOut]


class Decided(Struct, omit_defaults=True):
    """An arm, with the probability that it had."""

    decision: str
    arm: str
    propensity: float
    snapshot: int
    probabilities: dict[str, float] | UnsetType = UNSET
    left_out: list[str] | UnsetType = UNSET


class DecidedSeveral(Struct):
    """Several decisions, independent of each other."""

    decisions: list[Decided]


class Result(Struct, omit_defaults=True):
    """What became of an event."""

    decision: str
    status: Literal["accepted", "duplicate", "late", "parked"]
    place: int | UnsetType = UNSET


class Results(Struct):
    """What became of each event, in their order."""

    results: list[Result]


class RewardOut(Struct):
    """A reward on record."""

    id: str
    reward: float
    final: bool
    late: bool
    time: float


class DecisionOut(Struct, omit_defaults=True):
    """A decision on record."""

    decision: str
    time: float
    arm: str
    propensity: float
    snapshot: int
    probabilities: dict[str, float]
    status: Literal["waiting", "mature"]
    due: float
    rewards: list[RewardOut]
    reward: float | None  # what it was learned as
    shown: float | None
    contexts: list[list[float]] | UnsetType = UNSET
    unit: str | UnsetType = UNSET


class ArmCounts(Struct):
    """What came in for an arm."""

    arm: str
    status: str
    decisions: int
    rewards: int
    late: int
    missing: int
    waiting: int
    exposure: float | UnsetType = UNSET  # where there are slates: its part of all places' weights


class Status(Struct):
    """How an experiment is doing."""

    decisions: int
    mature: int
    waiting: int
    parked: int
    decisions_per_s: float
    snapshot: int
    snapshot_age_s: float
    arms: list[ArmCounts]


class Erased(Struct):
    """How many decisions were made anonymous."""

    erased: int


class Action(Struct):
    """An administrative action."""

    time: float
    actor: str
    action: str
    experiment: str | None
    detail: Any


class Actions(Struct):
    """The record of administrative actions, newest first."""

    actions: list[Action]
    older: int  # how many more the store has


class Token(Struct, omit_defaults=True):
    """A token. Its secret is shown once, when it is created."""

    id: str
    name: str
    role: Role
    experiment: str | None
    created: float
    token: str | UnsetType = UNSET
    expires: float | UnsetType = UNSET


class Tokens(Struct):
    """The tokens that are valid."""

    tokens: list[Token]


class PartAnswer(Struct):
    """The answer to one request of several, as it would have been alone."""

    status: int
    body: dict[str, Any]


class BatchAnswers(Struct):
    """The answers, in the order of the requests."""

    answers: list[PartAnswer]


class Health(Struct):
    """Whether the service works."""

    status: str


class Problem(Struct):
    """What went wrong."""

    code: str
    message: str
    field: str | None


class Failure(Struct):
    """The one shape of errors."""

    error: Problem


ENCODER = msgspec.json.Encoder()
