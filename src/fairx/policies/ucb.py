"""UCB, the conventional counterpart of FairX-UCB."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import highest, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .clicks import bounded_pulls
from .counts import count_reward, no_counts


class Bounds(NamedTuple):
    """Counts of each arm, and its upper confidence bound."""

    pulls: Vector
    reward_sums: Vector
    upper: Vector


@record
class UCB(NamedTuple):
    """Play the arm with the highest upper confidence bound, mean + width / sqrt(pulls).

    Notes
    -----
    Each arm on offer is played once first, in order; ties go to the lowest arm. The deployed
    policy puts all exposure on one arm. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import UCB
    >>> policy = UCB(width=0.1)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng)
    array([0., 1.])
    """

    width: float

    def checked(self) -> UCB:
        """Refuse a negative width."""
        rules.number("width", self.width, low=0)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Bounds:
        """Return bounds of infinity: an arm that was never pulled comes first."""
        return Bounds(*no_counts(arms), np.full(arms, np.inf))

    def score_arms(
        self, state: Bounds, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write the upper bounds."""
        for position in range(len(arms)):
            out[position] = state.upper[arms[position]]

    def propose(
        self,
        state: Bounds,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Play the highest bound."""
        self.score_arms(state, arms, contexts, normals, work, out)
        put_all_on(highest(out), out)

    def absorb(self, state: Bounds, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull and move the bound."""
        mean = count_reward(state, arm, reward)
        state.upper[arm] = mean + self.width / math.sqrt(state.pulls[arm])

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the bound."""
        return bounded_pulls(shows, examined)

    def probabilities(
        self, state: Bounds, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Put everything on the arm with the highest bound."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Bounds, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm` and move its bound."""
        observe(self, state, arm, context, reward)
