"""FairX-TS (Algorithm 2), for rewards of 0 or 1 under a beta prior."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, record
from fairx.exposure import share
from fairx.merit import Merit, merit_given
from fairx.numerics.gamma import draw_gammas, spread_of
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .clicks import normal_pulls
from .counts import count_reward


class BetaPosterior(NamedTuple):
    """Counts of each arm, and the beta distribution of its mean."""

    pulls: Vector
    reward_sums: Vector
    successes: Vector
    failures: Vector
    success_spreads: Vector
    failure_spreads: Vector


@record
class FairXBetaTS(NamedTuple):
    """Draw the chances of success from their beta posteriors and be fair to the draw.

    Parameters
    ----------
    merit
        What exposure is proportional to.
    successes, failures
        The prior of each mean, Beta(successes, failures): uniform by default.

    Notes
    -----
    Exact for rewards of 0 or 1. A reward between them counts for both, by its parts; sums beyond what
    such rewards can have count as the nearest that can. The deployed policy is the one given the draw.
    Uses two normal numbers per arm on offer. With one place it is FCTS-D of the merit-fair bandits with
    delays (github.com/MLCL-SYSU/FairCMAB-Delays).

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXBetaTS
    >>> policy = FairXBetaTS(Exponential(4))
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(2)
    array([0.65, 0.35])
    """

    merit: Merit
    successes: float = 1.0
    failures: float = 1.0

    def checked(self) -> FairXBetaTS:
        """Refuse a prior that is none."""
        merit_given("merit", self.merit)
        check_prior(self.successes, self.failures)
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse rewards beyond 0 to 1."""
        check_chances(low, high)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for two normal numbers per arm."""
        return 2 * arms, arms

    def start(self, arms: int, dimension: int = 0) -> BetaPosterior:
        """Return the prior."""
        return beta_prior(arms, self.successes, self.failures)

    def propose(
        self,
        state: BetaPosterior,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Deploy the fair policy of one draw."""
        draw_chances(state, arms, normals, work, out)  # line 3
        share(self.merit, out, out)  # line 4

    def absorb(
        self, state: BetaPosterior, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Update the posterior."""
        update_chances(state, arm, reward, self.successes, self.failures)  # line 7

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the posterior."""
        return coin_pulls(examined, squares, mean)

    def probabilities(
        self, state: BetaPosterior, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of one draw from the posterior."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: BetaPosterior, arm: int, context: Vector, reward: float) -> None:
        """Take a reward into the posterior of `arm`."""
        observe(self, state, arm, context, reward)


def check_prior(successes: float, failures: float) -> None:
    """Refuse numbers that are not positive."""
    rules.positive("successes", successes)
    rules.positive("failures", failures)


def check_chances(low: float, high: float) -> None:
    """Refuse rewards beyond 0 to 1.

    Examples
    --------
    >>> check_chances(0.0, 2.0)
    Traceback (most recent call last):
    InvalidValue: rewards must be from 0 to 1, not 0 to 2: they are the successes of a beta posterior
    """
    if low < 0.0 or high > 1.0:
        rule = f"be from 0 to 1, not {low:g} to {high:g}"
        raise rules.InvalidValue("rewards", f"{rule}: they are the successes of a beta posterior")


def beta_prior(arms: int, successes: float, failures: float) -> BetaPosterior:
    """Return the posterior before the first reward."""
    arms = rules.count("arms", arms)
    prior = successes, failures, spread_of(successes), spread_of(failures)
    return BetaPosterior(*np.zeros((2, arms)), *(np.full(arms, value) for value in prior))


@kernel
def draw_chances(
    state: BetaPosterior, arms: Indices, normals: Vector, work: Vector, out: Vector
) -> None:
    """Write one draw of the chance of success of each arm on offer: of two gamma numbers, a part."""
    n = len(arms)
    draw_gammas(state.successes, state.success_spreads, arms, normals[:n], out)
    draw_gammas(state.failures, state.failure_spreads, arms, normals[n : 2 * n], work)
    for position in range(n):
        both = out[position] + work[position]
        out[position] = out[position] / both if both > 0.0 else 0.5


@kernel
def update_chances(
    state: BetaPosterior, arm: int, reward: float, successes: float, failures: float
) -> None:
    """Take one reward into the posterior of its arm."""
    count_reward(state, arm, reward)
    won = min(max(state.reward_sums[arm], 0.0), state.pulls[arm])
    state.successes[arm] = successes + won
    state.failures[arm] = failures + (state.pulls[arm] - won)
    state.success_spreads[arm] = spread_of(state.successes[arm])
    state.failure_spreads[arm] = spread_of(state.failures[arm])


@kernel
def coin_pulls(examined: float, squares: float, mean: float) -> float:
    """Return the pulls of a posterior of coins, whose variance is that of clicks over looks.

    Examples
    --------
    >>> coin_pulls(examined=8.0, squares=8.0, mean=0.5), coin_pulls(8.0, 4.0, 0.5)
    (8.0, 5.333333333333333)
    """
    mean = min(max(mean, 1e-9), 1.0 - 1e-9)
    return normal_pulls(math.sqrt(mean * (1.0 - mean)), examined, squares, mean)
