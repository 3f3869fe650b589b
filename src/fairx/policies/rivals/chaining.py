"""Meritocratic fairness by chained intervals (Joseph, Kearns, Morgenstern and Roth 2016)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.policies.base import deploy, observe
from fairx.policies.counts import Counts, count_reward, no_counts
from fairx.types import Indices, Matrix, Vector


@record
class Chaining(NamedTuple):
    """Play uniformly all arms whose intervals are chained to the highest: none is known to be worse.

    Parameters
    ----------
    width
        The half width of an arm's interval after one pull: mean ± width / sqrt(pulls).

    Notes
    -----
    The chain is that of public code (github.com/jtcho/FairMachineLearning, whose positions are of the
    sorted intervals). The paper's width grows with the round, and its set of arms only shrinks: we
    could not check either against its text, and both are left out. An arm that was never pulled
    is chained to all. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.policies import Chaining
    >>> policy = Chaining(width=0.2)
    >>> state = policy.start(arms=3, dimension=0)
    >>> for arm, reward in enumerate([0.1, 0.6, 0.9]):
    ...     policy.learn(state, arm, np.empty(0), reward)
    >>> policy.probabilities(state, np.arange(3), np.empty((3, 0)), np.random.default_rng(0))
    array([0. , 0.5, 0.5])
    """

    width: float

    def checked(self) -> Chaining:
        """Refuse a negative width."""
        rules.number("width", self.width, low=0)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for both ends of the intervals."""
        return 0, 2 * arms

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
        """Chain intervals, from the highest on, until none reaches up to the lowest end."""
        n, lowest = len(arms), -math.inf
        low, high = work[:n], work[n : 2 * n]
        for position in range(n):
            pulls = state.pulls[arms[position]]
            mean = state.reward_sums[arms[position]] / max(pulls, 1.0)
            half = self.width / math.sqrt(pulls) if pulls > 0.0 else math.inf
            low[position], high[position], out[position] = mean - half, mean + half, 0.0
            lowest = max(lowest, high[position])
        chained, before = 0.0, -1.0
        while chained > before:
            before = chained
            for position in range(n):
                if out[position] == 0.0 and high[position] >= lowest:
                    out[position], chained = 1.0, chained + 1.0
                    lowest = min(lowest, low[position])
        for position in range(n):
            out[position] /= chained

    def absorb(self, state: Counts, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull."""
        count_reward(state, arm, reward)

    def probabilities(
        self, state: Counts, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the same chance for each arm of the chain."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Counts, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)
