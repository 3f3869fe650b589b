"""Line 7 of Algorithm 3: an optimistic parameter within the ellipsoid around the estimate."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from fairx import rules
from fairx.compiled import compilable, kernel, kernel_with, meet, outlined, record, turns
from fairx.exposure import highest
from fairx.numerics.linear_algebra import LANES, dot, times, transpose_times
from fairx.types import Matrix, Vector

from .objectives import Objective, copy
from .ridge import Ridge, roots_of_scales, whiten

HALVINGS = 8


@compilable
class EllipsoidSolver(Protocol):
    """A way to find the optimistic parameter."""

    def room_within(self, arms: int, dimension: int) -> int:
        """Return how much working memory it takes."""
        ...

    def deploy_within(
        self, objective: Objective, state: Ridge, radius: float, contexts: Matrix, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write the fair probabilities of the optimistic parameter to `out`."""
        ...


@record
class Ascent(NamedTuple):
    """Monotone ascent with closed-form steps, from several starts; it has no learning rate.

    With whitened contexts Y (rows of length sqrt(x' V^-1 x)) the ellipsoid is a ball, and its best
    point for a given gradient g of the objective is Y'g / |Y'g| times the radius; repeating this
    climbs, and a step that would lead down is halved until it leads up. It starts from the
    estimate, and from where each of the arms with the largest upper bounds reaches it; it stops
    when a step gains less than `tolerance` of all that was gained.
    """

    starts: int = 3
    steps: int = 30
    tolerance: float = 3e-3

    def checked(self) -> Ascent:
        """Refuse steps that lead nowhere."""
        rules.count("starts", self.starts)
        rules.count("steps", self.steps)
        rules.number("tolerance", self.tolerance, low=0, high=1)
        return self

    def room_within(self, arms: int, dimension: int) -> int:
        """Ask for room for whitened contexts, and some vectors."""
        return (arms + 1) * (dimension + LANES) + 7 * arms + 2 * dimension

    def deploy_within(
        self, objective: Objective, state: Ridge, radius: float, contexts: Matrix, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Climb from each start and keep the highest end."""
        k, d = contexts.shape
        centre, upper, best, means = work[:k], work[k : 2 * k], work[2 * k : 3 * k], work[3 * k :]
        buffers, rest = work[4 * k : 7 * k], work[7 * k :]
        wide = row_length(d)
        gradient, white = rest[:wide], rest[wide : wide + k * wide].reshape((k, wide))
        climber = Climber(centre, white, radius, self.steps, self.tolerance)
        roots_of_scales(state, gradient[:d])
        times(contexts, state.estimate, centre)
        whiten(state, gradient[:d], contexts, white, upper)
        for arm in turns(k):
            for i in range(d, wide):
                white[arm, i] = 0.0
            upper[arm] = centre[arm] + radius * upper[arm]
            best[arm] = centre[arm]
        meet()
        reached = -math.inf
        for start in range(min(self.starts, k + 1)):
            if start == 0:
                copy(centre, means[:k])
            else:
                arm = highest(upper)
                upper[arm] = -math.inf
                if arm == highest(best):
                    continue  # the best end so far favours this arm: it would climb there again
                reach(climber, white[arm], means[:k])
            found = climb(climber, objective, means[:k], gradient, buffers)
            if found > reached:
                reached = found
                copy(means[:k], best)
        objective.deploy_at(best, out)


def _odd_length(dimension: int) -> int:
    """Return an odd number: the lanes of a GPU, each with a row of its own, then read from different banks."""
    return dimension | 1


@kernel_with(_odd_length)
def row_length(dimension: int) -> int:
    """Return the length of a row of whitened contexts: whole lanes, the last filled up with zeros.

    Examples
    --------
    >>> row_length(50)
    56
    """
    return (dimension + LANES - 1) // LANES * LANES


class Climber(NamedTuple):
    """What all climbs of one round share."""

    centre: Vector  # the estimated means
    white: Matrix  # whitened contexts
    radius: float
    steps: int
    tolerance: float


@kernel
def reach(climber: Climber, gradient: Vector, means: Vector) -> None:
    """Write the means at the point of the ball that lies farthest along `gradient`."""
    size = math.sqrt(dot(gradient, gradient))
    scale = climber.radius / size if size > 0.0 else 0.0
    times(climber.white, gradient, means)
    for arm in turns(len(means)):
        means[arm] = climber.centre[arm] + scale * means[arm]
    meet()


@outlined
def climb(
    climber: Climber, objective: Objective, means: Vector, gradient: Vector, work: Vector
) -> float:
    """Move `means` uphill until a step gains little; return the value they reach."""
    k = len(means)
    slopes, tried = work[:k], work[k : 2 * k]
    copy(means, tried)
    start, reached, halved = 0.0, -math.inf, 0
    for step in range(climber.steps):
        found = objective.fill_slopes(tried, work[2 * k :], slopes)
        if found > reached:
            start = start if step else found
            little = climber.tolerance * (found - start) > found - reached
            copy(tried, means)
            reached, halved = found, 0
            if little:
                break
            transpose_times(climber.white, slopes, gradient)
            reach(climber, gradient, tried)
        elif halved < HALVINGS:
            halved += 1
            for arm in turns(k):  # the point half way is in the ball, and so are its means
                tried[arm] = 0.5 * (tried[arm] + means[arm])
            meet()
        else:
            break
    return reached
