"""FairX-LinEG with importance weights: what it learns does not depend on what it shows.

A least-squares fit to what a policy chose to see is not the fit to all arms, where the model is wrong:
the policy settles at a fixed point of its own choices. Each reward with the weight 1 / (K propensity)
counts, on average, as if arms were shown uniformly, and the fit is that of the judge.

This is a record of the experiment `misspecification`, not one of our policies: to weigh a reward it
keeps the probabilities that it proposed last, while `probabilities` of a policy must change nothing,
and a `Bandit` may learn of rewards late and in any order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import mix, share
from fairx.merit import Merit, merit_given
from fairx.policies.ridge import Ridge, new_ridge, predict, regress
from fairx.types import Indices, Matrix, Vector


class Weighted(NamedTuple):
    """A regression, and what a reward of each arm would weigh in the round that is played."""

    ridge: Ridge
    weights: Vector


@record
class WeightedLinEG(NamedTuple):
    """Be fair to a ridge regression of weighted rewards, and uniform a fraction `epsilon` of the time.

    Parameters
    ----------
    merit, ridge
        As those of `FairXLinEG`.
    epsilon
        Likewise, but positive: no weight is above 1 / epsilon. There is no other cap on them.

    Examples
    --------
    >>> from fairx import Exponential, environments, simulate
    >>> import numpy as np
    >>> merit, rng = Exponential(3), np.random.default_rng(0)
    >>> contexts = rng.random((20, 3, 2)) / 2
    >>> world = environments.Linear(contexts, np.array([0.9, 0.3]), noise_std=0.1)
    >>> policy = WeightedLinEG(merit, epsilon=0.01, ridge=1)
    >>> result = simulate(policy, world, merit, rounds=2000, seed=1)
    >>> bool(result.fairness_regret[0, -1] < 0.1 * 2000)
    True
    """

    merit: Merit
    epsilon: float
    ridge: float

    def checked(self) -> WeightedLinEG:
        """Refuse a fraction that is 0, or outside 0 to 1, and a ridge that is not positive."""
        merit_given("merit", self.merit)
        rules.positive("epsilon", rules.number("epsilon", self.epsilon, low=0, high=1))
        rules.positive("ridge", self.ridge)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for three vectors."""
        return 0, 3 * dimension

    def start(self, arms: int, dimension: int) -> Weighted:
        """Return an estimate of 0."""
        return Weighted(new_ridge(arms, dimension, self.ridge), np.ones(arms))

    def propose(
        self,
        state: Weighted,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Mix the fair policy of the estimates with the uniform one, and keep what it weighs."""
        predict(state.ridge, contexts, out)
        share(self.merit, out, out)
        mix(out, 1.0 - self.epsilon, self.epsilon)
        for position in range(len(arms)):
            state.weights[arms[position]] = 1.0 / (len(arms) * out[position])

    def absorb(
        self, state: Weighted, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Take the reward into the regression: a row times the root of its weight."""
        d, root = len(context), math.sqrt(state.weights[arm])
        scaled, rest = work[:d], work[d:]
        for i in range(d):
            scaled[i] = root * context[i]
        regress(state.ridge, scaled, root * reward, rest)
