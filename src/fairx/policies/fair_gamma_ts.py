"""FairX-TS (Algorithm 2), for counts under a gamma prior."""

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


class GammaPosterior(NamedTuple):
    """Counts of each arm, and the gamma distribution of its mean."""

    pulls: Vector
    reward_sums: Vector
    shapes: Vector
    rates: Vector
    spreads: Vector


@record
class FairXGammaTS(NamedTuple):
    """Draw the mean counts from their gamma posteriors and be fair to the draw.

    Parameters
    ----------
    merit
        What exposure is proportional to.
    shape, rate
        The prior of each mean, Gamma(shape, rate), whose mean is shape / rate: with 1 and 1, exponential.

    Notes
    -----
    Exact for rewards that are counts with a Poisson distribution. A negative sum of rewards counts as 0.
    The deployed policy is the one given the draw. Uses one normal number per arm on offer.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXGammaTS
    >>> policy = FairXGammaTS(Exponential(4))
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(2)
    array([0.8, 0.2])
    """

    merit: Merit
    shape: float = 1.0
    rate: float = 1.0

    def checked(self) -> FairXGammaTS:
        """Refuse a prior that is none."""
        merit_given("merit", self.merit)
        check_prior(self.shape, self.rate)
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse rewards below 0."""
        check_counts(low)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for one normal number per arm."""
        return arms, 0

    def start(self, arms: int, dimension: int = 0) -> GammaPosterior:
        """Return the prior."""
        return gamma_prior(arms, self.shape, self.rate)

    def propose(
        self,
        state: GammaPosterior,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Deploy the fair policy of one draw."""
        draw_rates(state, arms, normals, out)  # line 3
        share(self.merit, out, out)  # line 4

    def absorb(
        self, state: GammaPosterior, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Update the posterior."""
        update_rates(state, arm, reward, self.shape, self.rate)  # line 7

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the posterior."""
        return count_pulls(examined, squares, mean)

    def probabilities(
        self, state: GammaPosterior, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of one draw from the posterior."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: GammaPosterior, arm: int, context: Vector, reward: float) -> None:
        """Take a reward into the posterior of `arm`."""
        observe(self, state, arm, context, reward)


def check_prior(shape: float, rate: float) -> None:
    """Refuse numbers that are not positive."""
    rules.positive("shape", shape)
    rules.positive("rate", rate)


def check_counts(low: float) -> None:
    """Refuse rewards below 0.

    Examples
    --------
    >>> check_counts(-1.0)
    Traceback (most recent call last):
    InvalidValue: rewards must be at least 0, not -1: they are the counts of a gamma posterior
    """
    if low < 0.0:
        rule = f"be at least 0, not {low:g}: they are the counts of a gamma posterior"
        raise rules.InvalidValue("rewards", rule)


def gamma_prior(arms: int, shape: float, rate: float) -> GammaPosterior:
    """Return the posterior before the first reward."""
    arms = rules.count("arms", arms)
    prior = shape, rate, spread_of(shape)
    return GammaPosterior(*np.zeros((2, arms)), *(np.full(arms, value) for value in prior))


@kernel
def draw_rates(state: GammaPosterior, arms: Indices, normals: Vector, out: Vector) -> None:
    """Write one draw of the mean of each arm on offer."""
    draw_gammas(state.shapes, state.spreads, arms, normals, out)
    for position in range(len(arms)):
        out[position] /= state.rates[arms[position]]


@kernel
def update_rates(state: GammaPosterior, arm: int, reward: float, shape: float, rate: float) -> None:
    """Take one reward into the posterior of its arm."""
    count_reward(state, arm, reward)
    state.shapes[arm] = shape + max(state.reward_sums[arm], 0.0)
    state.rates[arm] = rate + state.pulls[arm]
    state.spreads[arm] = spread_of(state.shapes[arm])


@kernel
def count_pulls(examined: float, squares: float, mean: float) -> float:
    """Return the pulls of a posterior of counts, whose variance is that of clicks over looks.

    Examples
    --------
    >>> count_pulls(examined=8.0, squares=8.0, mean=0.5), count_pulls(8.0, 4.0, 0.5)
    (8.0, 6.4)
    """
    return normal_pulls(math.sqrt(max(mean, 1e-9)), examined, squares, mean)
