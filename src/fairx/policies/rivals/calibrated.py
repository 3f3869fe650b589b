"""Calibrated fairness (Liu, Radanovic, Dimitrakakis, Mandal and Parkes 2017): SD-TS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.compiled import kernel, record
from fairx.policies.base import deploy, observe
from fairx.policies.counts import Counts, count_reward, no_counts
from fairx.policies.fair_beta_ts import check_chances, check_prior
from fairx.types import Indices, Matrix, Vector


@record
class SDTS(NamedTuple):
    """Play an arm as likely as its next reward, of 0 or 1, would be the best: ties go to all alike.

    Parameters
    ----------
    successes, failures
        The prior of each mean, Beta(successes, failures): uniform by default.

    Notes
    -----
    The paper draws means, then rewards, and plays the best reward; the probabilities of that are those of
    coins with the posterior means, and exact here. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.policies import SDTS
    >>> policy = SDTS()
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(3)
    array([0.583, 0.417])
    """

    successes: float = 1.0
    failures: float = 1.0

    def checked(self) -> SDTS:
        """Refuse a prior that is none."""
        check_prior(self.successes, self.failures)
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
        """Write the chances of the best reward."""
        n = len(arms)
        posterior_means(state, arms, self.successes, self.failures, work[:n])
        be_best(work[:n], work[n : 2 * n + 1], out)

    def absorb(self, state: Counts, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull."""
        count_reward(state, arm, reward)

    def probabilities(
        self, state: Counts, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return how likely each arm has the best reward."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Counts, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm`."""
        observe(self, state, arm, context, reward)


@kernel
def posterior_means(
    state: Counts, arms: Indices, successes: float, failures: float, out: Vector
) -> float:
    """Write the posterior mean of each arm on offer; return the least number of pulls."""
    least = state.pulls[arms[0]]
    for position in range(len(arms)):
        pulls = state.pulls[arms[position]]
        won = min(max(state.reward_sums[arms[position]], 0.0), pulls)
        out[position] = (successes + won) / (successes + failures + pulls)
        least = min(least, pulls)
    return least  # type: ignore[no-any-return]


@kernel
def be_best(means: Vector, chances: Vector, out: Vector) -> None:
    """Write how likely each coin is the best, all alike where several or none succeed.

    A coin that succeeds shares with those others that do: its chance is its mean times that of
    1 / (1 + others). The distribution of their number is that of all less this coin.
    """
    n = len(means)
    count_successes(means, chances)
    for i in range(n):
        mean, total, before = means[i], 0.0, 0.0
        if mean <= 0.5:  # divided out from the end where errors do not grow
            each = 1.0 / (1.0 - mean)
            for others in range(n):
                before = (chances[others] - mean * before) * each
                total += before / (others + 1.0)
        else:
            each = 1.0 / mean
            for others in range(n - 1, -1, -1):
                before = (chances[others + 1] - (1.0 - mean) * before) * each
                total += before / (others + 1.0)
        out[i] = mean * total + chances[0] / n


@kernel
def count_successes(means: Vector, chances: Vector) -> None:
    """Write how likely each number of successes of all coins is, from none to all."""
    chances[0] = 1.0
    for i in range(len(means)):
        mean = means[i]
        chances[i + 1] = mean * chances[i]
        for number in range(i, 0, -1):
            chances[number] = (1.0 - mean) * chances[number] + mean * chances[number - 1]
        chances[0] *= 1.0 - mean
