"""What goes in, as types: they check requests and describe them in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

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
Weight = Annotated[float, Meta(ge=0, le=1e9)]
Place = Annotated[int, Meta(ge=1, le=LARGEST, description="Of a slate, from 1")]
Places = Annotated[
    Annotated[int, Meta(ge=1, le=LARGEST)] | Annotated[list[Weight], Meta(min_length=1)],
    Meta(
        description="How much each place of a slate is seen, the first most; or how many places "
        "are seen alike",
        examples=[[1.0, 0.63, 0.5], 3],
    ),
]
POLICY = {
    "kind": "FairXTS",
    "merit": {"kind": "Exponential", "steepness": 10.0},
    "prior_std": 1.0,
    "reward_std": 0.5,
}
Policy = Annotated[dict[str, Any], Meta(description="A policy and its settings", examples=[POLICY])]
FEATURES = {
    "visit": {"device": {"kind": "Category", "values": ["phone", "desktop"], "others": True}},
    "arms": {"price": {"kind": "Number", "mean": 20.0, "std": 10.0}},
    "crosses": [["device", "price"]],
}
Features = Annotated[
    dict[str, Any],
    Meta(
        description="What contexts are made of, by name: features of a visit and of each arm, in "
        "this order, pairs of them, and into how many columns they are hashed",
        examples=[FEATURES],
    ),
]
Contexts = Annotated[
    list[list[float]] | dict[str, Any],
    Meta(
        description="A row of numbers for each candidate; or, where the experiment has features, "
        "`visit` and `arms` (by name, or in the order of the candidates)"
    ),
]
Seconds = Annotated[float, Meta(gt=0, le=1e10, description="From now on; without it, for ever")]
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
    features: Features | None = None


class ArmChanges(Struct, forbid_unknown_fields=True):
    """Arms to add, pause, resume and remove: all of it happens, or nothing."""

    add: list[ArmName] = []
    pause: list[ArmName] = []
    resume: list[ArmName] = []
    remove: list[ArmName] = []


class Decide(Struct, forbid_unknown_fields=True):
    """A request for an arm, or for a slate. The same key gets the same answer."""

    key: Key
    candidates: list[ArmName] | None = None
    contexts: Contexts | None = None
    unit: Key | None = None
    count: Annotated[int, Meta(ge=1, le=LARGEST)] | None = None
    probabilities: bool = False
    places: Places | None = None


class ShownPlace(Struct, forbid_unknown_fields=True):
    """A place of a slate that was shown."""

    decision: Key
    place: Place


class Shown(Struct, forbid_unknown_fields=True):
    """Decisions that were shown; of slates, the places that were."""

    decisions: Annotated[list[Key | ShownPlace], Meta(min_length=1)]


class RewardIn(Struct, forbid_unknown_fields=True):
    """A reward, of a slate one of a place. With several of different ids, their sum counts."""

    decision: Key
    reward: Number
    id: RewardName = ""
    final: bool = False
    place: Place | None = None


class Rewards(Struct, forbid_unknown_fields=True):
    """Rewards: all are taken in, or none."""

    rewards: Annotated[list[RewardIn], Meta(min_length=1)]


class Erase(Struct, forbid_unknown_fields=True):
    """A unit to forget."""

    unit: Key


class NewToken(Struct, forbid_unknown_fields=True):
    """A token to create: for one experiment, or for all."""

    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=TEXT)]
    role: Role
    experiment: Name | None = None
    lifetime_s: Seconds | None = None


class Rotation(Struct, forbid_unknown_fields=True):
    """A token to replace: the old one works for a while longer."""

    grace_s: Annotated[float, Meta(ge=0, le=1e9)] = 3600.0
    lifetime_s: Seconds | None = None


class Part(Struct, forbid_unknown_fields=True):
    """One request of several: the body is what the route of that name takes."""

    experiment: Name
    route: Literal["decide", "rewards", "shown"]
    body: dict[str, Any]


class Batch(Struct, forbid_unknown_fields=True):
    """Different requests in one call."""

    requests: Annotated[list[Part], Meta(min_length=1)]
