"""Many arms of FairX-UCB: the better end of each interval, kept in a tree as the level moves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fairx.compiled import kernel
from fairx.merit import Merit
from fairx.numerics.trees import (
    Tree,
    ask_for,
    ask_for_leaf,
    at,
    first_with,
    lift,
    lift_all,
    new_tree,
    put,
)
from fairx.types import Indices, Vector

from .many_arms import can_be_added

WEIGHT, VALUE, LEAST_HIGH, MOST_LOW = range(4)  # columns of a tree of ends
NEAR = 2.0**-46  # of a level: more than rounding adds to it, of a million arms


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
        put_end(self.ends, state, arms[position], position, bar_of(self.ends), weights)
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
def bar_of(ends: Tree) -> float:
    """Return the level, less what rounding may have added to it.

    Of steep merits a threshold is the high end itself, to the last bit, and so is the level that arms with one
    high end, a bound, promise: above it by rounding, an arm that is best there would be put at its low end.
    """
    level = level_of(ends)
    return level - NEAR * abs(level)


@kernel
def put_end(ends: Tree, state: Any, arm: int, position: int, bar: float, weights: Vector) -> None:
    """Put an arm at the end that is better at this level."""
    put_at(ends, state, arm, position, bar <= state.thresholds[arm], weights)


@kernel
def put_at(ends: Tree, state: Any, arm: int, position: int, up: bool, weights: Vector) -> None:
    """Put an arm at its high end, or at its low one."""
    threshold = state.thresholds[arm]
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
    """Move all arms whose threshold the level crossed, until it stays; list them, and count them.

    The level of any ends is at most the best one, and that of ends which are best at it is not below it:
    it never falls, but by rounding.
    """
    full = False
    for _ in range(passes):
        bar, first = bar_of(ends), count
        while ends.top[LEAST_HIGH] < bar or ends.top[MOST_LOW] >= bar:
            position = first_with(ends, LEAST_HIGH if ends.top[LEAST_HIGH] < bar else MOST_LOW)
            put_end(ends, state, arms[position], position, bar, weights)
            lift(ends, position)
            if count == len(changed):  # the list keeps those of this pass, which are all different
                for i in range(first, count):
                    changed[i - first] = changed[i]
                full, first, count = True, 0, count - first
            changed[count] = position
            count += 1
        if count == first:
            break
        if level_of(ends) < bar:
            put_back(ends, state, arms, weights, changed[first:count])
            break
    return len(changed) if full else count


@kernel
def put_back(
    ends: Tree, state: Any, arms: Indices, weights: Vector, crossed: Indices
) -> None:  # fmt: skip
    """Put arms at their other ends."""
    for position in crossed:
        up = at(ends, position, MOST_LOW) > -math.inf
        put_at(ends, state, arms[position], position, up, weights)
        lift(ends, position)


def weigher_of_ends(
    merit: Merit, passes: int, arms: int, low: float, high: float
) -> OptimisticEnds | None:
    """Return what weighs the ends of intervals that lie between `low` and `high`."""
    if not (merit.is_log_concave() and can_be_added(merit, low, high)):
        return None
    return OptimisticEnds(passes, new_tree(arms, sums=2))
