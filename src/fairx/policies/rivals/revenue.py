"""Guaranteed revenue for each arm (code: github.com/DBaudry/Revenue_guaranteeing_bandits)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.exposure import put_all_on
from fairx.numerics.elementary import log
from fairx.policies.base import deploy, observe
from fairx.policies.counts import count_reward, first_unpulled, no_counts
from fairx.types import Indices, Matrix, Vector

from .per_arm import checked_shares, for_each


@record
class GuaranteedRevenue(NamedTuple):
    """Play each arm as often as its revenue needs, and the best one for the rest.

    Parameters
    ----------
    revenues
        For each arm, the reward per round that it is to earn, 0 to 1; at most 1 in all. One number is for
        all alike.
    optimism
        What an arm is taken to earn when played is its mean + optimism sqrt(2 ln t / pulls), within its
        revenue and 1. In the code of its authors 0 is "greedy", 1 "ucb" and -1 "lcb".

    Notes
    -----
    Arm a has revenue / estimate. Where those sum to more than 1 they are scaled down; else the rest goes
    to the highest mean + sqrt(2 ln t / pulls), the lowest on ties. Each arm on offer is played once first; t counts the rewards
    of all arms. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.policies import GuaranteedRevenue
    >>> policy = GuaranteedRevenue([0.2, 0.1])
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=0.5)
    >>> policy.learn(state, arm=1, context=np.empty(0), reward=1.0)
    >>> policy.probabilities(state, np.arange(2), np.empty((2, 0)), np.random.default_rng(0))
    array([0.9, 0.1])
    """

    revenues: Any
    optimism: float = 0.0

    def checked(self) -> GuaranteedRevenue:
        """Refuse revenues that cannot all be had."""
        rules.number("optimism", self.optimism)
        return changed(self, revenues=checked_shares("revenues", self.revenues))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Revenues:
        """Return no counts."""
        return Revenues(*no_counts(arms), for_each("revenues", self.revenues, arms))

    def propose(
        self,
        state: Revenues,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Give each arm its part, and the rest to the best."""
        unpulled = first_unpulled(state, arms)
        if unpulled >= 0:
            put_all_on(unpulled, out)
            return
        t = 0.0
        for arm in range(len(state.pulls)):
            t += state.pulls[arm]
        total, best, most = 0.0, 0, -math.inf
        for position in range(len(arms)):
            arm = arms[position]
            least, mean = state.revenues[arm], state.reward_sums[arm] / state.pulls[arm]
            half = math.sqrt(2.0 * log(t) / state.pulls[arm])
            taken = min(max(mean + self.optimism * half, least), 1.0)
            out[position] = least / taken if least > 0.0 else 0.0
            total += out[position]
            upper = min(max(mean + half, least), 1.0)
            if upper > most:
                best, most = position, upper
        for position in range(len(arms)):
            out[position] /= max(total, 1.0)
        out[best] += 1.0 - min(total, 1.0)

    def absorb(
        self, state: Revenues, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Count the pull."""
        count_reward(state, arm, reward)

    def probabilities(
        self, state: Revenues, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return what revenues need, and the rest for the best."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Revenues, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)


class Revenues(NamedTuple):
    """Counts of each arm, and what it is to earn."""

    pulls: Vector
    reward_sums: Vector
    revenues: Vector
