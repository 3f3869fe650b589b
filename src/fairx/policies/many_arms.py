"""Many arms: what each of them weighs, where one reward changes the weights of few.

The probability of an arm is its weight over the sum of all, but for a part of the time that is shared
equally. A *weigher* stands beside a policy, which learns as ever (`absorb`), and tells what weighs
something else since then (docs/scale.md says where it takes the place of `propose`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from fairx.compiled import compilable, kernel
from fairx.merit import Merit
from fairx.numerics.trees import (
    Tree,
    ask_for,
    ask_for_leaf,
    first_with,
    lift,
    lift_all,
    new_tree,
    put,
)
from fairx.types import Indices, Vector

WITHIN = 200.0  # logarithms of merits of which no sum is lost or infinite
WEIGHT, VALUE, LEAST_HIGH, MOST_LOW = range(4)  # columns of a tree of ends


@compilable
class Weigher(Protocol):
    """What each of the arms on offer weighs, by position."""

    def equal_share(self) -> float:
        """Return the part of the time in which all arms have the same chance."""
        ...

    def unpulled(self, state: Any, arms: Indices, start: int) -> int:
        """Return the first position from `start` on that is to be played before anything is weighed.

        As many as there are arms means that there is none.
        """
        ...

    def weigh_arms(self, state: Any, arms: Indices, weights: Vector, room: Indices) -> None:
        """Write the weights of all arms; `room` is to work in."""
        ...

    def reweigh(
        self, state: Any, arms: Indices, position: int, weights: Vector, changed: Indices
    ) -> int:
        """Follow a reward of one arm: write new weights, list their positions, and return how many.

        As many as the list has room for means that there may be more.
        """
        ...

    def ask_for_arm(self, state: Any, arm: int, position: int) -> None:
        """Ask memory for what a reward of the arm will need."""
        ...


class KeptMerits(NamedTuple):
    """Weights that the policy keeps itself, one of which changes with a reward."""

    epsilon: float

    def equal_share(self) -> float:
        """Return the policy's."""
        return self.epsilon

    def unpulled(self, state: Any, arms: Indices, start: int) -> int:
        """Wait for nothing."""
        return len(arms)

    def weigh_arms(self, state: Any, arms: Indices, weights: Vector, room: Indices) -> None:
        """Write the merits of the estimates."""
        for position in range(len(arms)):
            weights[position] = state.merits[arms[position]]

    def reweigh(
        self, state: Any, arms: Indices, position: int, weights: Vector, changed: Indices
    ) -> int:
        """Write the merit of the new estimate."""
        weights[position], changed[0] = state.merits[arms[position]], position
        return 1

    def ask_for_arm(self, state: Any, arm: int, position: int) -> None:
        """Ask for the estimate."""
        for part in state:
            ask_for(part, arm)


class KnownWeights(NamedTuple):
    """Weights that never change."""

    known: Vector

    def equal_share(self) -> float:
        """Explore nothing."""
        return 0.0

    def unpulled(self, state: Any, arms: Indices, start: int) -> int:
        """Wait for nothing."""
        return len(arms)

    def weigh_arms(self, state: Any, arms: Indices, weights: Vector, room: Indices) -> None:
        """Write what is known."""
        for position in range(len(arms)):
            weights[position] = self.known[arms[position]]

    def reweigh(
        self, state: Any, arms: Indices, position: int, weights: Vector, changed: Indices
    ) -> int:
        """Change nothing."""
        return 0

    def ask_for_arm(self, state: Any, arm: int, position: int) -> None:
        """Need nothing."""

    def absorb(self, state: Any, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Learn nothing: the policy, whose record may be large, is not needed."""


class OptimisticEnds(NamedTuple):
    """The ends of the intervals that are best at the level which they promise together.

    An arm is best at its high end up to a level, its threshold, and at its low end above. After a
    reward the level moves a little and few thresholds are crossed: those arms are found in a tree.
    """

    passes: int
    ends: Tree  # of merits, of merits times means, and of thresholds by end

    def equal_share(self) -> float:
        """Explore by optimism alone."""
        return 0.0

    def unpulled(self, state: Any, arms: Indices, start: int) -> int:
        """Wait until all intervals have ends."""
        while start < len(arms) and state.pulls[arms[start]] > 0.0:
            start += 1
        return start

    def weigh_arms(self, state: Any, arms: Indices, weights: Vector, room: Indices) -> None:
        """Start with all arms at their high ends, as `climb_ends` does."""
        for position in range(len(arms)):
            put_end(self.ends, state, arms[position], position, -math.inf, weights)
        lift_all(self.ends)
        settle_ends(self.ends, state, arms, self.passes, weights, room, 0)

    def reweigh(
        self, state: Any, arms: Indices, position: int, weights: Vector, changed: Indices
    ) -> int:
        """Put the arm at its better end, and then all whose threshold the level crosses."""
        put_end(self.ends, state, arms[position], position, level_of(self.ends), weights)
        lift(self.ends, position)
        changed[0] = position
        return settle_ends(self.ends, state, arms, self.passes, weights, changed, 1)

    def ask_for_arm(self, state: Any, arm: int, position: int) -> None:
        """Ask for the interval, and for the better end."""
        for part in state:
            ask_for(part, arm)
        ask_for_leaf(self.ends, position)


@kernel
def level_of(ends: Tree) -> float:
    """Return the value that all arms promise together."""
    return ends.top[VALUE] / ends.top[WEIGHT]  # type: ignore[no-any-return]


@kernel
def put_end(ends: Tree, state: Any, arm: int, position: int, level: float, weights: Vector) -> None:
    """Put an arm at the end that is better at this level."""
    threshold = state.thresholds[arm]
    up = level <= threshold
    weights[position] = state.high_merits[arm] if up else state.low_merits[arm]
    put(ends, position, WEIGHT, weights[position])
    put(ends, position, VALUE, state.high_values[arm] if up else state.low_values[arm])
    put(ends, position, LEAST_HIGH, threshold if up else math.inf)
    put(ends, position, MOST_LOW, -math.inf if up else threshold)


@kernel
def settle_ends(
    ends: Tree, state: Any, arms: Indices, passes: int, weights: Vector, changed: Indices,
    count: int,
) -> int:  # fmt: skip
    """Move all arms whose threshold the level crossed, until it stays; list them, and count them."""
    for _ in range(passes):
        level, crossed = level_of(ends), False
        while ends.top[LEAST_HIGH] < level or ends.top[MOST_LOW] >= level:
            column = LEAST_HIGH if ends.top[LEAST_HIGH] < level else MOST_LOW
            position = first_with(ends, column)
            put_end(ends, state, arms[position], position, level, weights)
            lift(ends, position)
            crossed = True
            changed[min(count, len(changed) - 1)] = position
            count = min(count + 1, len(changed))
        if not crossed:
            break
    return count


def weigher_of_merits(merit: Merit, epsilon: float, low: float, high: float) -> KeptMerits | None:
    """Return what weighs the merits of means from `low` to `high`, and of 0, if they can be added."""
    return KeptMerits(epsilon) if can_be_added(merit, min(low, 0.0), max(high, 0.0)) else None


def weigher_of_ends(
    merit: Merit, passes: int, arms: int, low: float, high: float
) -> OptimisticEnds | None:
    """Return what weighs the ends of intervals that lie between `low` and `high`."""
    if not (merit.is_log_concave() and can_be_added(merit, low, high)):
        return None
    return OptimisticEnds(passes, new_tree(arms, sums=2))


def can_be_added(merit: Merit, low: float, high: float) -> bool:
    """Tell whether sums of merits are neither lost nor infinite.

    Examples
    --------
    >>> from fairx import Exponential
    >>> can_be_added(Exponential(10), 0, 1), can_be_added(Exponential(1000), 0, 1)
    (True, False)
    """
    return abs(merit.log(low)) < WITHIN and abs(merit.log(high)) < WITHIN
