"""The paper's way to take the optimistic step: a few steps of projected gradient ascent."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fairx import rules
from fairx.compiled import by_any, record, turns
from fairx.exposure import share, uphill
from fairx.merit import Merit
from fairx.numerics.linear_algebra import dot, times, transpose_times
from fairx.slates.places import Page
from fairx.slates.target import spread
from fairx.types import Indices, Matrix, Vector

from .objectives import Objective
from .optimism import Box
from .ridge import Ridge


@record
class Gradient(NamedTuple):
    """`steps` steps of `rate` from the estimates, brought back when they leave the region."""

    steps: int = 10
    rate: float = 0.01

    def checked(self) -> Gradient:
        """Refuse steps that lead nowhere."""
        rules.count("steps", self.steps)
        rules.positive("rate", self.rate)
        return self

    def deploy_optimum(
        self, merit: Merit, state: Box, arms: Indices, work: Vector, out: Vector
    ) -> None:
        """Climb, and stay within the box."""
        n = len(arms)
        optimistic, slopes = work[:n], work[n : 2 * n]
        for position in turns(n):
            arm = arms[position]
            mean = state.reward_sums[arm] / state.pulls[arm]
            optimistic[position] = min(max(mean, state.low[arm]), state.high[arm])
        for _ in range(self.steps):
            uphill(merit, optimistic, slopes)
            moved = 0
            for position in turns(n):
                arm = arms[position]
                step = optimistic[position] + self.rate * slopes[position]
                step = min(max(step, state.low[arm]), state.high[arm])
                moved += int(step != optimistic[position])
                optimistic[position] = step
            if not by_any(moved > 0):  # in a corner of the box, where all further steps end too
                break
        share(merit, optimistic, out)

    def deploy_on_places(
        self, merit: Merit, state: Box, arms: Indices, page: Page, work: Vector, out: Vector
    ) -> None:
        """Climb as for one place: the paper has no other steps."""
        self.deploy_optimum(merit, state, arms, work, out)
        spread(out, page, out)

    def room_within(self, arms: int, dimension: int) -> int:
        """Ask for room for three numbers an arm, and three vectors."""
        return 3 * arms + 3 * dimension

    def deploy_within(
        self, objective: Objective, state: Ridge, radius: float, contexts: Matrix, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Climb, and stay within the ellipsoid: in the norm of the precision."""
        k, d = contexts.shape
        means, slopes, inside, rest = work[:k], work[k : 2 * k], work[2 * k : 3 * k], work[3 * k :]
        parameter, away, stretched = rest[:d], rest[d : 2 * d], rest[2 * d :]
        for i in turns(d):
            parameter[i] = state.estimate[i]
        for _ in range(self.steps):
            times(contexts, parameter, means)
            objective.fill_slopes(means, inside, slopes)
            transpose_times(contexts, slopes, away)
            for i in turns(d):
                away[i] = parameter[i] + self.rate * away[i] - state.estimate[i]
            times(state.precision, away, stretched[:d])
            size = math.sqrt(dot(away, stretched[:d]))
            scale = radius / size if size > radius else 1.0
            for i in turns(d):
                parameter[i] = state.estimate[i] + scale * away[i]
        times(contexts, parameter, means)
        objective.deploy_at(means, out)


def takes_steps(policy: Any) -> bool:
    """Tell whether a policy climbs by these steps: they read the precision of a regression, to which others only add.

    Examples
    --------
    >>> from fairx import Exponential, FairXLinUCB
    >>> [
    ...     takes_steps(FairXLinUCB(Exponential(3), 0.1, 1, solver=solver))
    ...     for solver in ("gradient", "ascent")
    ... ]
    [True, False]
    """
    return isinstance(getattr(policy, "solver", None), Gradient)
