"""What comes in about decisions: rewards, and that they were shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .identity import place_id
from .snapshots import ServedExperiment

MOST_REWARDS = 100  # all of a decision are looked at whenever one comes
Place = int | None  # of a slate, from 1; None for a decision that is no slate


class Reward(NamedTuple):
    """A reward as it is sent; a decision's reward is the sum of those with different ids."""

    decision: str
    value: float
    id: str = ""
    final: bool = False
    place: Place = None

    @property
    def row(self) -> str:
        """The id on record of what it is a reward of."""
        return place_id(self.decision, self.place)

    @property
    def of(self) -> str:
        """What it is a reward of, in words."""
        where = "" if self.place is None else f" at place {self.place}"
        return f"{self.decision}{where}"


class Shown(NamedTuple):
    """What was shown: a decision, or one place of a slate."""

    decision: str
    place: Place = None

    @property
    def row(self) -> str:
        """The id on record of what was shown."""
        return place_id(self.decision, self.place)


class Batch(NamedTuple):
    """The rewards of one request: all are taken in, or none."""

    experiment: ServedExperiment
    rewards: Sequence[Reward]
    time: float
    most: int = MOST_REWARDS  # of one decision, or of one place of a slate
