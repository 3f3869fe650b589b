"""Places that are looked at with some chance: how a policy learns from what is seen there.

A click is the reward where the place was looked at, and 0 where it was not; which of them a 0 is,
nobody knows. docs/slates.md derives what is done here.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx.compiled import compilable, entry, kernel, record
from fairx.types import Vector

from .ridge import Ridge


class Clicks(NamedTuple):
    """What was seen of each arm, and of how many looks."""

    shows: Vector
    examined: Vector  # sums of the chances that its place was looked at
    squares: Vector  # sums of their squares
    sums: Vector  # of clicks
    scaled: Vector  # room for a context


def no_clicks(arms: int, dimension: int) -> Clicks:
    """Return zeros."""
    shows, examined, squares, sums = np.zeros((4, arms))
    return Clicks(shows, examined, squares, sums, np.zeros(dimension))


@compilable
class Counting(Protocol):
    """An inner form that learns from clicks by counts: its state has `pulls` and `reward_sums`."""

    def effective_pulls(
        self, shows: float, examined: float, squares: float, mean: float
    ) -> float:  # fmt: skip
        """Return how many rewards would tell as much of an arm's mean as its clicks do."""
        ...


@compilable
class Learner(Protocol):
    """A way to let a policy learn from one place."""

    def learn_place(
        self, policy: Any, state: Any, arm: int, context: Vector, click: float, chance: float,
        clicks: Clicks, work: Vector,
    ) -> None:  # fmt: skip
        """Take in what was seen of `arm`, on a place that is looked at with this chance."""
        ...


@record
class FromRewards(NamedTuple):
    """Each reward is seen."""

    empty: bool = True

    def learn_place(
        self, policy: Any, state: Any, arm: int, context: Vector, click: float, chance: float,
        clicks: Clicks, work: Vector,
    ) -> None:  # fmt: skip
        """Learn the reward."""
        policy.absorb(state, arm, context, click, work)


@record
class FromCounts(NamedTuple):
    """The mean of an arm is its clicks over its looks, and as certain as so many rewards."""

    low: float  # the lowest and the highest reward
    high: float

    def learn_place(
        self, policy: Any, state: Any, arm: int, context: Vector, click: float, chance: float,
        clicks: Clicks, work: Vector,
    ) -> None:  # fmt: skip
        """Set the counts so that one reward more makes them what all clicks are worth."""
        mean = add_click(clicks, arm, click, chance)
        pulls = policy.effective_pulls(
            clicks.shows[arm], clicks.examined[arm], clicks.squares[arm],
            min(max(mean, self.low), self.high),
        )  # fmt: skip
        each = pulls / clicks.examined[arm]
        state.pulls[arm] = pulls - 1.0
        state.reward_sums[arm] = (clicks.sums[arm] - click) * each
        policy.absorb(state, arm, context, click * each, work)


@record
class FromContexts(NamedTuple):
    """A click is linear in the context times the chance of a look."""

    empty: bool = True

    def learn_place(
        self, policy: Any, state: Any, arm: int, context: Vector, click: float, chance: float,
        clicks: Clicks, work: Vector,
    ) -> None:  # fmt: skip
        """Learn the click, of a context that is as much smaller."""
        for i in range(len(context)):
            clicks.scaled[i] = chance * context[i]
        policy.absorb(state, arm, clicks.scaled, click, work)


@record
class FromRatios(NamedTuple):
    """A click over the chance of a look has the mean of the reward: for any policy."""

    empty: bool = True

    def learn_place(
        self, policy: Any, state: Any, arm: int, context: Vector, click: float, chance: float,
        clicks: Clicks, work: Vector,
    ) -> None:  # fmt: skip
        """Learn a reward that is too large where it is not 0."""
        policy.absorb(state, arm, context, click / chance, work)


def learner_of(policy: Any, state: Any, low: float, high: float) -> Any:
    """Return how an inner form learns from clicks, where rewards are from `low` to `high`."""
    if hasattr(policy, "effective_pulls"):
        return FromCounts(low, high)
    return FromContexts() if type(state) is Ridge else FromRatios()


@entry
def learn_once(learner, policy, state, arm, context, click, chance, clicks, work):  # type: ignore[no-untyped-def]
    """Learn from one place, from Python."""
    learner.learn_place(policy, state, arm, context, click, chance, clicks, work)


@kernel
def add_click(clicks: Clicks, arm: int, click: float, chance: float) -> float:
    """Add what one place says of an arm; return the mean reward by all clicks."""
    clicks.shows[arm] += 1.0
    clicks.examined[arm] += chance
    clicks.squares[arm] += chance * chance
    clicks.sums[arm] += click
    return clicks.sums[arm] / clicks.examined[arm]  # type: ignore[no-any-return]


@kernel
def bounded_pulls(shows: float, examined: float) -> float:
    """Return the pulls of an interval for clicks, which have the range of a reward.

    Hoeffding's is width sqrt(shows) / examined on either side.

    Examples
    --------
    >>> bounded_pulls(shows=8.0, examined=8.0), bounded_pulls(shows=8.0, examined=4.0)
    (8.0, 2.0)
    """
    return examined * examined / shows


@kernel
def normal_pulls(reward_std: float, examined: float, squares: float, mean: float) -> float:
    """Return the pulls of a posterior whose variance is that of clicks over looks.

    That is (s^2 + m^2 (1 - squares / examined)) / examined, and s^2 / pulls for rewards.

    Examples
    --------
    >>> normal_pulls(0.5, examined=8.0, squares=8.0, mean=0.5)
    8.0
    >>> normal_pulls(0.5, examined=8.0, squares=4.0, mean=0.5)
    5.333333333333333
    """
    ratio = mean / reward_std
    return examined / (1.0 + ratio * ratio * (1.0 - squares / examined))
