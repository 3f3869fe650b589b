"""Line 7 of Algorithm 3: an optimistic parameter within the ellipsoid around the estimate."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from fairx import rules
from fairx.compiled import compilable, kernel, record
from fairx.exposure import highest, share, uphill
from fairx.linear_algebra import dot, times, transpose_times
from fairx.merit import Merit
from fairx.types import Matrix, Vector

from .optimism import Gradient
from .ridge import Ridge, half_width, predict


@compilable
class EllipsoidSolver(Protocol):
    """A way to find the optimistic parameter."""

    def deploy_within(
        self, merit: Merit, state: Ridge, radius: float, contexts: Matrix, work: Vector, out: Vector
    ) -> None:
        """Write the fair probabilities of the optimistic parameter to `out`."""
        ...


@record
class Ascent(NamedTuple):
    """Monotone ascent with closed-form steps, from two starts; it has no learning rate.

    The best point of the ellipsoid for a given gradient g of the objective is
    estimate + radius V^-1 g / |g|, in the norm of V^-1; repeating this climbs. It starts from the
    estimate, and from the point where the arm with the largest upper bound reaches it, and stops
    when a step gains less than `tolerance` of what was gained so far.
    """

    steps: int = 30
    tolerance: float = 1e-4

    def checked(self) -> Ascent:
        """Refuse steps that lead nowhere."""
        rules.count("steps", self.steps)
        rules.number("tolerance", self.tolerance, low=0, high=1)
        return self

    def deploy_within(
        self, merit: Merit, state: Ridge, radius: float, contexts: Matrix, work: Vector, out: Vector
    ) -> None:
        """Climb twice and keep the higher end."""
        k, d = contexts.shape
        means, other, vectors = work[:k], work[k : 2 * k], work[2 * k :]
        predict(state, contexts, means)
        first = climb(merit, state, radius, contexts, means, vectors, out, self.steps, self.tolerance)
        best_arm, best_bound = 0, -math.inf
        predict(state, contexts, other)
        for arm in range(k):
            bound = other[arm] + radius * half_width(state, contexts[arm], vectors)
            if bound > best_bound:
                best_arm, best_bound = arm, bound
        move(state, radius, contexts, contexts[best_arm], vectors, other)
        second = climb(merit, state, radius, contexts, other, vectors, out, self.steps, self.tolerance)
        share(merit, means if first >= second else other, out)


@kernel
def move(
    state: Ridge, radius: float, contexts: Matrix, gradient: Vector, work: Vector, means: Vector
) -> None:
    """Write the means at the point of the ellipsoid that lies farthest along `gradient`."""
    d = len(gradient)
    rooted, point = work[:d], work[d : 2 * d]
    times(state.root, gradient, rooted)
    transpose_times(state.root, rooted, point)
    size = math.sqrt(dot(rooted, rooted))
    scale = radius / size if size > 0.0 else 0.0
    for i in range(d):
        point[i] = state.estimate[i] + scale * point[i]
    times(contexts, point, means)


@kernel
def climb(
    merit: Merit,
    state: Ridge,
    radius: float,
    contexts: Matrix,
    means: Vector,
    work: Vector,
    out: Vector,
    steps: int,
    tolerance: float,
) -> float:
    """Move `means` uphill until a step gains little; return the value they reach."""
    k, d = contexts.shape
    gradient, slopes, tried, rest = work[:d], work[d : d + k], work[d + k : d + 2 * k], work[d + 2 * k :]
    share(merit, means, out)
    start = uphill(merit, means, out, slopes)
    reached = start
    for _ in range(steps):
        transpose_times(contexts, slopes, gradient)
        move(state, radius, contexts, gradient, rest, tried)
        share(merit, tried, out)
        found = uphill(merit, tried, out, slopes)
        if not found > reached:
            break
        gain = found - reached
        reached = found
        for arm in range(k):
            means[arm] = tried[arm]
        if gain < tolerance * (reached - start):
            break
    return reached


@record
class EllipsoidGradient(NamedTuple):
    """The paper's projected gradient ascent from the estimate, scaled back when outside."""

    steps: int = 10
    rate: float = 0.01

    def checked(self) -> EllipsoidGradient:
        """Refuse steps that lead nowhere."""
        rules.count("steps", self.steps)
        rules.positive("rate", self.rate)
        return self

    def deploy_within(
        self, merit: Merit, state: Ridge, radius: float, contexts: Matrix, work: Vector, out: Vector
    ) -> None:
        """Climb, and stay within the ellipsoid: in the norm of the precision."""
        k, d = contexts.shape
        means, slopes = work[:k], work[k : 2 * k]
        parameter, away, stretched = work[2 * k : 2 * k + d], work[2 * k + d : 2 * k + 2 * d], work[2 * k + 2 * d :]
        for i in range(d):
            parameter[i] = state.estimate[i]
        for _ in range(self.steps):
            times(contexts, parameter, means)
            share(merit, means, out)
            uphill(merit, means, out, slopes)
            transpose_times(contexts, slopes, away)
            for i in range(d):
                away[i] = parameter[i] + self.rate * away[i] - state.estimate[i]
            times(state.precision, away, stretched[:d])
            size = math.sqrt(dot(away, stretched[:d]))
            scale = radius / size if size > radius else 1.0
            for i in range(d):
                parameter[i] = state.estimate[i] + scale * away[i]
        times(contexts, parameter, means)
        share(merit, means, out)


def ellipsoid_solver(solver: Any) -> Any:
    """Return the solver that a name stands for; the gradient is that of the box."""
    named = {"ascent": Ascent(), "gradient": EllipsoidGradient()}
    found = named.get(solver, solver) if isinstance(solver, str) else solver
    if type(found) is Gradient:
        found = EllipsoidGradient(found.steps, found.rate)
    if not hasattr(found, "deploy_within"):
        raise ValueError(f"solver must be 'ascent', 'gradient', Ascent(...) or Gradient(...), not {solver!r}")
    return found
