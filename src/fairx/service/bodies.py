"""What goes in and out, as types: they check requests, write answers and make the OpenAPI page."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

# No control characters, which PostgreSQL and pages dislike. Python's `$` lets a newline follow.
END = r"(?!\n)$"
TEXT = r"^[^\x00-\x1f\x7f]+" + END
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*" + END
LARGEST = 2**31 - 1  # of whole numbers, before any limit
Name = Annotated[str, Meta(min_length=1, max_length=100, pattern=NAME)]
ArmName = Annotated[str, Meta(min_length=1, max_length=1000, pattern=TEXT)]
Key = Annotated[str, Meta(min_length=1, max_length=1000, pattern=TEXT)]
RewardName = Annotated[str, Meta(max_length=1000, pattern=TEXT.replace("+", "*"))]
Number = Annotated[float, Meta(ge=-1e9, le=1e9)]
POLICY = {
    "kind": "FairXTS",
    "merit": {"kind": "Exponential", "steepness": 10.0},
    "prior_std": 1.0,
    "reward_std": 0.5,
}
Policy = Annotated[dict[str, Any], Meta(description="A policy and its settings", examples=[POLICY])]
Role = Literal["decide", "reward", "read", "admin"]


class NewExperiment(Struct, forbid_unknown_fields=True):
    """An experiment to create."""

    name: Name
    arms: Annotated[list[ArmName], Meta(min_length=1)]
    policy: Policy
    dimension: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    reward_window_s: Annotated[float, Meta(ge=0, le=1e9)] = 600.0
    missing_reward: Number | None = 0.0
    floor: Annotated[float, Meta(ge=0, le=1)] = 0.0
    reward_range: tuple[Number, Number] | None = None
    requires_shown: bool = False


class ArmState(Struct):
    """An arm."""

    name: str
    status: Literal["active", "paused", "removed"]


class Experiment(Struct):
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


class Experiments(Struct):
    """All experiments."""

    experiments: list[Experiment]


class ArmChanges(Struct, forbid_unknown_fields=True):
    """Arms to add, pause, resume and remove: all of it happens, or nothing."""

    add: list[ArmName] = []
    pause: list[ArmName] = []
    resume: list[ArmName] = []
    remove: list[ArmName] = []


class Decide(Struct, forbid_unknown_fields=True):
    """A request for an arm. The same key gets the same answer."""

    key: Key
    candidates: list[ArmName] | None = None
    contexts: list[list[float]] | None = None
    unit: Key | None = None
    count: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    probabilities: bool = False


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


class Shown(Struct, forbid_unknown_fields=True):
    """Decisions that were shown."""

    decisions: Annotated[list[Key], Meta(min_length=1)]


class RewardIn(Struct, forbid_unknown_fields=True):
    """A reward. With several of different ids, their sum counts."""

    decision: Key
    reward: Number
    id: RewardName = ""
    final: bool = False


class Rewards(Struct, forbid_unknown_fields=True):
    """Rewards: all are taken in, or none."""

    rewards: Annotated[list[RewardIn], Meta(min_length=1)]


class Result(Struct):
    """What became of an event."""

    decision: str
    status: Literal["accepted", "duplicate", "late", "parked"]


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


class Erase(Struct, forbid_unknown_fields=True):
    """A unit to forget."""

    unit: Key


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


class NewToken(Struct, forbid_unknown_fields=True):
    """A token to create: for one experiment, or for all."""

    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=TEXT)]
    role: Role
    experiment: Name | None = None


class Token(Struct, omit_defaults=True):
    """A token. Its secret is shown once, when it is created."""

    id: str
    name: str
    role: Role
    experiment: str | None
    created: float
    token: str | UnsetType = UNSET


class Tokens(Struct):
    """The tokens that are valid."""

    tokens: list[Token]


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
