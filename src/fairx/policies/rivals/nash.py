"""The Nash confidence bound (Barman et al. 2023), for small Nash regret."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import exactly, record
from fairx.exposure import highest, put_all_on
from fairx.numerics.elementary import log
from fairx.policies.base import deploy, observe
from fairx.policies.counts import Counts, count_reward, no_counts
from fairx.types import Indices, Matrix, Vector


@record
class NashUCB(NamedTuple):
    """Play arms in turn until one earned enough, then the highest mean + 2 c sqrt(2 mean ln T / pulls).

    Parameters
    ----------
    rounds
        T, for how long it is played.
    constant
        c: 3 in the paper, which plays in turn until an arm's rewards sum to 420 c^2 ln T.

    Notes
    -----
    It plays one arm for certain; ties go to the lowest. With c = 3 it plays in turn for long: at a best
    mean of 1/2 and T = 100,000, some 87,000 rounds for each arm. Rewards are not negative. Draws no random
    numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.policies import NashUCB
    >>> policy = NashUCB(rounds=1000)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> policy.probabilities(state, np.arange(2), np.empty((2, 0)), np.random.default_rng(0))
    array([0., 1.])
    """

    rounds: int
    constant: float = 3.0

    def checked(self) -> NashUCB:
        """Refuse rounds that are none."""
        rules.count("rounds", self.rounds)
        rules.number("constant", self.constant, low=0)
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
        """Play the arm with the fewest pulls, or the one with the highest bound."""
        exactly()  # arms with the same counts tie
        term, most = log(float(self.rounds)), 0.0
        for position in range(len(arms)):
            most = max(most, state.reward_sums[arms[position]])
        turns = most <= 420.0 * self.constant * self.constant * term
        for position in range(len(arms)):
            pulls = state.pulls[arms[position]]
            if turns or pulls == 0.0:
                out[position] = -pulls if turns else math.inf
            else:
                mean = max(state.reward_sums[arms[position]] / pulls, 0.0)
                out[position] = mean + 2.0 * self.constant * math.sqrt(2.0 * mean * term / pulls)
        put_all_on(highest(out), out)

    def absorb(self, state: Counts, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull."""
        count_reward(state, arm, reward)

    def probabilities(
        self, state: Counts, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Put everything on one arm."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Counts, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)
