"""LinUCB, the conventional counterpart of FairX-LinUCB."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, meet, record, turns
from fairx.exposure import highest, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .radius import radius
from .ridge import Ridge, new_ridge, predict, regress, roots_of_scales, whiten


@record
class LinUCB(NamedTuple):
    """Play the arm with the highest upper confidence bound, x . estimate + sqrt(beta x' V^-1 x).

    Notes
    -----
    `beta` is a number or `Confidence(norm, delta)`, as for `FairXLinUCB`; ties go to the lowest arm.
    The deployed policy puts all exposure on one arm. Each of the K bounds costs O(d^2). Draws no
    random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import LinUCB
    >>> policy = LinUCB(beta=0.1, ridge=1)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng)
    array([1., 0.])
    """

    beta: Any
    ridge: float

    def checked(self) -> LinUCB:
        """Turn a number into a radius."""
        rules.positive("ridge", self.ridge)
        return changed(self, beta=radius(self.beta))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for whitened contexts, their lengths and a vector."""
        return 0, arms * (dimension + 1) + dimension

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return an empty regression."""
        return new_ridge(arms, dimension, self.ridge)

    def score_arms(
        self, state: Ridge, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write the upper bounds."""
        t = state.observations[0] + 1.0
        size = math.sqrt(self.beta.squared_radius(t, contexts.shape[1]))
        k, d = contexts.shape
        roots, sizes, rest = work[:d], work[d : d + k], work[d + k :]
        roots_of_scales(state, roots)
        predict(state, contexts, out)
        whiten(state, roots, contexts, rest[: k * d].reshape((k, d)), sizes)
        for position in turns(k):
            out[position] += size * sizes[position]
        meet()

    def propose(
        self,
        state: Ridge,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Play the highest bound."""
        self.score_arms(state, arms, contexts, normals, work, out)
        put_all_on(highest(out), out)

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Take the reward into the regression."""
        regress(state, context, reward, work)

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Put everything on the arm with the highest bound."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the regression."""
        observe(self, state, arm, context, reward)
