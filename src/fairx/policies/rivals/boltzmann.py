"""Boltzmann exploration, or softmax action selection (Sutton and Barto 1998): an ordinary stochastic baseline."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.policies.base import deploy, observe
from fairx.policies.counts import Counts, count_reward, means_so_far, no_counts
from fairx.policies.softmax import soften_here
from fairx.types import Indices, Matrix, Vector


@record
class Boltzmann(NamedTuple):
    """Play in proportion to exp(mean / temperature) of the means so far.

    Notes
    -----
    Estimates start at 0. It is `FairXEG(Exponential(1 / temperature), epsilon=0)` under the name and in the
    terms that it has elsewhere: there the temperature is tuned for reward, here the steepness says what is fair.
    Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.policies import Boltzmann
    >>> policy = Boltzmann(temperature=0.5)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(3)
    array([0.881, 0.119])
    """

    temperature: float

    def checked(self) -> Boltzmann:
        """Refuse a temperature of 0 or less."""
        rules.positive("temperature", self.temperature)
        rules.positive("1 / temperature", 1.0 / self.temperature)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Counts:
        """Return no counts."""
        return no_counts(arms)

    def propose(
        self,
        state: Counts,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Write the softmax of the means."""
        means_so_far(state, arms, out)
        soften_here(1.0 / self.temperature, out)

    def absorb(self, state: Counts, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull."""
        count_reward(state, arm, reward)

    def probabilities(
        self, state: Counts, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the softmax of the mean rewards."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Counts, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)
