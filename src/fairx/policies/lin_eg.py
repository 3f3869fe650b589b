"""Linear epsilon-greedy, the conventional counterpart of FairX-LinEG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import highest, mix, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .ridge import Ridge, new_ridge, predict, regress


@record
class LinEG(NamedTuple):
    """Play the best arm of the ridge solution, and uniformly a fraction `epsilon` of the time.

    Notes
    -----
    The estimate starts at 0, and ties go to the lowest arm. The deployed probabilities are the
    mixture: 1 - epsilon on the best arm, and epsilon / K on each. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import LinEG
    >>> policy = LinEG(epsilon=0.1, ridge=1)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng)
    array([0.95, 0.05])
    """

    epsilon: float
    ridge: float

    def checked(self) -> LinEG:
        """Refuse a fraction outside 0 to 1 and a ridge that is not positive."""
        rules.number("epsilon", self.epsilon, low=0, high=1)
        rules.positive("ridge", self.ridge)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for two vectors."""
        return 0, 2 * dimension

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return an estimate of 0."""
        return new_ridge(arms, dimension, self.ridge)

    def score_arms(
        self, state: Ridge, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write the estimated means."""
        predict(state, contexts, out)

    def propose(
        self,
        state: Ridge,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Mix the best arm with the uniform policy."""
        self.score_arms(state, arms, contexts, normals, work, out)
        put_all_on(highest(out), out)
        mix(out, 1.0 - self.epsilon, self.epsilon)

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Take the reward into the regression."""
        regress(state, context, reward, work)

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Mix the arm with the highest estimate and the uniform policy."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the regression."""
        observe(self, state, arm, context, reward)
