"""Epsilon-greedy, the conventional counterpart of FairX-EG."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import highest, mix, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .counts import Counts, count_reward, means_so_far, no_counts


@record
class EG(NamedTuple):
    """Play the best mean reward seen so far, and uniformly a fraction `epsilon` of the time.

    Notes
    -----
    Estimates start at 0, and ties go to the lowest arm. The deployed probabilities are the
    mixture: 1 - epsilon on the best arm, and epsilon / K on each. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import EG
    >>> policy = EG(epsilon=0.1)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng)
    array([0.95, 0.05])
    """

    epsilon: float

    def checked(self) -> EG:
        """Refuse a fraction outside 0 to 1."""
        rules.number("epsilon", self.epsilon, low=0, high=1)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Counts:
        """Return estimates of 0."""
        return no_counts(arms)

    def score_arms(
        self, state: Counts, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write the mean rewards so far."""
        means_so_far(state, arms, out)

    def propose(
        self,
        state: Counts,
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

    def absorb(self, state: Counts, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull."""
        count_reward(state, arm, reward)

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return how often the arm was looked at: nothing but the mean matters."""
        return examined

    def probabilities(
        self, state: Counts, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Mix the arm with the highest mean reward and the uniform policy."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Counts, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)
