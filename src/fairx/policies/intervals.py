"""How far an arm's mean can be from its estimate: three confidence intervals of one scale.

`width` is the half width of Hoeffding's interval after one pull, w0 in the paper. With the range R of
the rewards, it stands for the log term L = 2 (width / R)^2 of every interval here: of the same L they
fail with about the same chance, and differ by what they make of the rewards.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx import rules
from fairx.compiled import compilable, kernel, meet, record, turns
from fairx.types import Vector

from .divergence import farthest
from .optimism import Box, empty_box


@compilable
class Interval(Protocol):
    """A rule for the ends of the interval of one arm."""

    def note_reward(self, state: Any, arm: int, reward: float, bounds: Any) -> None:
        """Keep what this rule needs of a reward, beside the counts."""
        ...

    def ends(
        self, state: Any, arm: int, mean: float, width: float, bounds: Any
    ) -> tuple[float, float]:
        """Return the ends of the interval about the mean of the rewards, before they are clipped."""
        ...


@record
class Hoeffding(NamedTuple):
    """mean ± width / sqrt(pulls), as in the paper: whatever the rewards."""

    empty: bool = True

    def note_reward(self, state: Any, arm: int, reward: float, bounds: Any) -> None:
        """Keep nothing."""

    def ends(
        self, state: Any, arm: int, mean: float, width: float, bounds: Any
    ) -> tuple[float, float]:
        """Return mean ± width / sqrt(pulls)."""
        half = width / math.sqrt(state.pulls[arm])  # line 5
        return mean - half, mean + half

    def empty_state(self, arms: int) -> Box:
        """Return intervals without ends."""
        return empty_box(arms)

    def failures(self) -> int:
        """Return how many times exp(-L) the chance is that an interval fails, at most."""
        return 2


@record
class KullbackLeibler(NamedTuple):
    """All q with pulls * kl(mean, q) <= L, on the scale where rewards are from 0 to 1.

    kl is the divergence of two coins; by Pinsker's inequality the interval lies inside Hoeffding's,
    and it is much the narrower where means are near an end of their range.
    """

    empty: bool = True

    def note_reward(self, state: Any, arm: int, reward: float, bounds: Any) -> None:
        """Keep nothing."""

    def ends(
        self, state: Any, arm: int, mean: float, width: float, bounds: Any
    ) -> tuple[float, float]:
        """Return the least and the largest q."""
        low, span = bounds[0], bounds[1] - bounds[0]
        p = min(max((mean - low) / span, 0.0), 1.0)
        cost = log_term(width, span) / state.pulls[arm]
        least = min(1.0 - farthest(1.0 - p, cost), p)  # p, where rounding would pass it
        return low + span * least, low + span * farthest(p, cost)

    def empty_state(self, arms: int) -> Box:
        """Return intervals without ends."""
        return empty_box(arms)

    def failures(self) -> int:
        """Return how many times exp(-L) the chance is that an interval fails, at most."""
        return 2


@record
class Bernstein(NamedTuple):
    """mean ± sqrt(2 V L / pulls) + 7 R L / (3 (pulls - 1)), V the variance of the rewards.

    The empirical Bernstein interval of Maurer and Pontil (2009): of width 1 / pulls where rewards
    hardly vary.
    """

    empty: bool = True

    def note_reward(self, state: Any, arm: int, reward: float, bounds: Any) -> None:
        """Add the square of the reward, counted from the lowest one."""
        for _ in turns(1):
            state.squares[arm] += (reward - bounds[0]) * (reward - bounds[0])
        meet()

    def ends(
        self, state: Any, arm: int, mean: float, width: float, bounds: Any
    ) -> tuple[float, float]:
        """Return the ends; after one reward, nothing is known of the variance."""
        pulls, span = state.pulls[arm], bounds[1] - bounds[0]
        if pulls < 2.0:
            return -math.inf, math.inf
        above = mean - bounds[0]
        variance = max(state.squares[arm] / pulls - above * above, 0.0) * pulls / (pulls - 1.0)
        term = log_term(width, span)
        half = math.sqrt(2.0 * variance * term / pulls) + 7.0 * span * term / (3.0 * (pulls - 1.0))
        return mean - half, mean + half

    def empty_state(self, arms: int) -> SquaredBox:
        """Return intervals without ends, and sums of squares."""
        return SquaredBox(*empty_box(arms), np.zeros(arms))

    def failures(self) -> int:
        """Return how many times exp(-L) the chance is that an interval fails, at most."""
        return 4


class SquaredBox(NamedTuple):
    """A `Box`, and the sums of squares of the rewards of each arm, counted from the lowest one."""

    pulls: Vector
    reward_sums: Vector
    low: Vector
    high: Vector
    low_merits: Vector
    high_merits: Vector
    low_values: Vector
    high_values: Vector
    thresholds: Vector
    squares: Vector


INTERVALS = {"hoeffding": Hoeffding(), "kl": KullbackLeibler(), "bernstein": Bernstein()}


@kernel
def log_term(width: float, span: float) -> float:
    """Return L, the logarithm in the chance that an interval of this width fails."""
    return 2.0 * (width / span) * (width / span)


@kernel
def clipped(bounds: Any, low: float, high: float) -> tuple[float, float]:
    """Return the part of an interval within the bounds; their nearer end, where there is none."""
    if bounds is None:
        return low, high
    return min(max(low, bounds[0]), bounds[1]), min(max(high, bounds[0]), bounds[1])


@kernel
def clip_means(bounds: Any, means: Vector) -> None:
    """Bring means within the bounds, where there are any."""
    if bounds is not None:
        for i in range(len(means)):
            means[i] = min(max(means[i], bounds[0]), bounds[1])


def bounds_given(bounds: Any) -> tuple[float, float] | None:
    """Return the bounds of the means as two numbers, the lower one first; nothing for none.

    Examples
    --------
    >>> bounds_given((1, 0))
    Traceback (most recent call last):
    InvalidValue: bounds must be the lowest and the highest mean, two numbers that increase, not (1, 0)
    """
    if bounds is None:
        return None
    try:
        low, high = (rules.number("each of the bounds", end) for end in bounds)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if low < high:
        return low, high
    rule = f"be the lowest and the highest mean, two numbers that increase, not {bounds!r}"
    raise rules.InvalidValue("bounds", rule)
