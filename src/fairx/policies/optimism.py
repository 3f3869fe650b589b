"""Line 7 of Algorithm 1: the most optimistic means within a box, found exactly."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx import rules
from fairx.compiled import compilable, kernel, record
from fairx.merit import Merit
from fairx.numerics.elementary import exp
from fairx.slates.places import Page
from fairx.types import Indices, Vector

from .capped_optimism import deploy_capped
from .optimistic_ends import weigher_of_ends
from .peaks import climb_peaks

SMALL, LARGE = 1e-200, 1e200  # sums of merits between them are neither lost nor infinite
PASSES = 100


class Box(NamedTuple):
    """Counts of each arm, its confidence interval, and what the exact solver needs of its ends."""

    pulls: Vector
    reward_sums: Vector
    low: Vector
    high: Vector
    low_merits: Vector
    high_merits: Vector
    low_values: Vector  # merit times mean
    high_values: Vector
    thresholds: Vector  # the high end is the better one up to this level


@compilable
class BoxSolver(Protocol):
    """A way to find the optimistic means."""

    def deploy_optimum(
        self, merit: Merit, state: Box, arms: Indices, work: Vector, out: Vector
    ) -> None:
        """Write the fair probabilities of the optimistic means to `out`."""
        ...

    def deploy_on_places(
        self, merit: Merit, state: Box, arms: Indices, page: Page, work: Vector, out: Vector
    ) -> None:
        """Write the fair exposures of means that are optimistic about several places to `out`."""
        ...


@record
class Exact(NamedTuple):
    """The global optimum, by Dinkelbach's method: for a given value the arms separate.

    Each arm then maximises f(m) (m - value) on its own interval; where log f is concave that is
    at an end. `passes` bounds the (two or three) passes over the arms.
    """

    passes: int = PASSES

    def checked(self) -> Exact:
        """Refuse passes that lead nowhere."""
        rules.count("passes", self.passes)
        return self

    def deploy_optimum(
        self, merit: Merit, state: Box, arms: Indices, work: Vector, out: Vector
    ) -> None:
        """Let the value rise until it no longer does."""
        if not (merit.is_log_concave() and climb_ends(state, arms, self.passes, out)):
            climb_peaks(merit, state, arms, self.passes, work[: len(arms)], out)

    def weigher(self, merit: Merit, arms: int, low: float, high: float) -> Any:
        """Return what weighs many arms by the ends of intervals between `low` and `high`.

        It goes on from the ends of before. Where passes end the climb, that leads elsewhere.
        """
        if self.passes < PASSES:
            return None
        return weigher_of_ends(merit, self.passes, arms, low, high)

    def deploy_on_places(
        self, merit: Merit, state: Box, arms: Indices, page: Page, work: Vector, out: Vector
    ) -> None:
        """Let the value of all places rise until it no longer does."""
        deploy_capped(merit, state, arms, self.passes, page, work, out)


def empty_box(arms: int) -> Box:
    """Return intervals without bounds: no arm was ever pulled."""
    new = Box._make(np.zeros(rules.count("arms", arms)) for _ in Box._fields)
    new.low[:], new.high[:], new.high_merits[:] = -math.inf, math.inf, math.inf
    return new


@kernel
def set_interval(state: Box, arm: int, low: float, high: float, merit: Merit) -> None:
    """Give `arm` a new interval."""
    low_merit, high_merit = exp(merit.log(low)), exp(merit.log(high))
    state.low[arm], state.high[arm] = low, high
    state.low_merits[arm], state.high_merits[arm] = low_merit, high_merit
    state.low_values[arm], state.high_values[arm] = low_merit * low, high_merit * high
    rise = high_merit - low_merit
    state.thresholds[arm] = high + low_merit * (high - low) / rise if rise > 0.0 else math.inf


@kernel
def promise(level: float, state: Box, arms: Indices, out: Vector) -> tuple[float, float, float]:
    """Write the merits of the better ends at `level`.

    Return the value they promise, their sum, and the level at which the first of them changes.
    """
    total, weighted, change = 0.0, 0.0, math.inf
    for position in range(len(arms)):
        arm = arms[position]
        threshold = state.thresholds[arm]
        up = level <= threshold
        out[position] = state.high_merits[arm] if up else state.low_merits[arm]
        total += out[position]
        weighted += state.high_values[arm] if up else state.low_values[arm]
        change = threshold if up and threshold < change else change
    return weighted / total, total, change


@kernel
def climb_ends(state: Box, arms: Indices, passes: int, out: Vector) -> bool:
    """Climb between the ends of the intervals; say no where their merits are out of range."""
    used = -math.inf  # all at the high end
    level, total, change = promise(used, state, arms, out)
    for _ in range(passes):
        if level <= change or not total < LARGE:
            break
        reached, total, change = promise(level, state, arms, out)
        if not reached > level:  # no rise, or rounding flipped a tie: keep the best ends
            _, total, _ = promise(used, state, arms, out)
            break
        used, level = level, reached
    if not SMALL < total < LARGE:
        return False
    for position in range(len(out)):
        out[position] /= total
    return True
