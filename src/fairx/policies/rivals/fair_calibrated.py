"""Calibrated fairness from the first round on (Liu et al. 2017): Fair_SD_TS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, record
from fairx.numerics.elementary import log
from fairx.policies.base import deploy, observe
from fairx.policies.counts import Counts, count_reward, no_counts
from fairx.policies.fair_beta_ts import check_chances, check_prior
from fairx.types import Indices, Matrix, Vector

from .calibrated import be_best, posterior_means


@record
class FairSDTS(NamedTuple):
    """Play all arms alike until each was pulled often enough, and then as `SDTS` does.

    Parameters
    ----------
    epsilon, delta
        Each arm is pulled more than (2 D + 1)^2 ln(2 / delta) / (2 epsilon^2) times first.
    divergence
        D, the largest distance of two reward distributions: at most 1. The code of its author takes
        it from the true means, which a policy does not know.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.policies import FairSDTS
    >>> policy = FairSDTS(epsilon=0.1, delta=0.1)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> policy.probabilities(state, np.arange(2), np.empty((2, 0)), np.random.default_rng(0))
    array([0.5, 0.5])
    """

    epsilon: float
    delta: float
    divergence: float = 1.0
    successes: float = 1.0
    failures: float = 1.0

    def checked(self) -> FairSDTS:
        """Refuse chances that are none."""
        check_prior(self.successes, self.failures)
        rules.positive("epsilon", self.epsilon)
        rules.number("delta", rules.positive("delta", self.delta), high=1)
        rules.number("divergence", self.divergence, low=0, high=1)
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse rewards beyond 0 to 1."""
        check_chances(low, high)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for means, and for the chances of each number of successes."""
        return 0, 2 * arms + 1

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
        """Explore uniformly, or write the chances of the best reward."""
        n = len(arms)
        least = posterior_means(state, arms, self.successes, self.failures, work[:n])
        if least > pulls_first(self.divergence, self.epsilon, self.delta):
            be_best(work[:n], work[n : 2 * n + 1], out)
        else:
            for position in range(n):
                out[position] = 1.0 / n

    def absorb(self, state: Counts, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull."""
        count_reward(state, arm, reward)

    def probabilities(
        self, state: Counts, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return equal chances, or how likely each arm has the best reward."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Counts, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)


@kernel
def pulls_first(divergence: float, epsilon: float, delta: float) -> float:
    """Return how many pulls of each arm come first.

    Examples
    --------
    >>> round(pulls_first(divergence=1.0, epsilon=0.1, delta=0.1), 1)
    1348.1
    """
    spread = 2.0 * divergence + 1.0
    return spread * spread * log(2.0 / delta) / (2.0 * epsilon * epsilon)
