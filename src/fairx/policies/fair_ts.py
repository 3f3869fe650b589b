"""FairX-TS (Algorithm 2), for normal rewards under a normal prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, record
from fairx.exposure import share
from fairx.merit import Merit, merit_given
from fairx.numerics.elementary import quotient, root
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .clicks import normal_pulls
from .counts import count_reward


class Posterior(NamedTuple):
    """Counts of each arm, with the mean and standard deviation of its posterior."""

    pulls: Vector
    reward_sums: Vector
    means: Vector
    stds: Vector


@record
class FairXTS(NamedTuple):
    """Draw mean rewards from the posterior and be fair to the draw.

    Parameters
    ----------
    merit
        What exposure is proportional to.
    prior_std, reward_std
        Standard deviations of the prior of each mean and of a reward around its mean.

    Notes
    -----
    The paper leaves the prior open: the means are independent, N(0, prior_std**2), and rewards
    are normal. The deployed policy is the one given the draw, and so is its regret. Uses one
    normal number per arm on offer.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXTS
    >>> policy = FairXTS(Exponential(4), prior_std=1, reward_std=0.5)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(2)
    array([0.98, 0.02])
    """

    merit: Merit
    prior_std: float
    reward_std: float

    def checked(self) -> FairXTS:
        """Refuse standard deviations that are not positive."""
        merit_given("merit", self.merit)
        rules.positive("prior_std", self.prior_std)
        rules.positive("reward_std", self.reward_std)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for one normal number per arm."""
        return arms, 0

    def start(self, arms: int, dimension: int = 0) -> Posterior:
        """Return the prior."""
        return prior(arms, self.prior_std)

    def propose(
        self,
        state: Posterior,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Deploy the fair policy of one draw."""
        draw(state, arms, normals, out)  # line 3
        share(self.merit, out, out)  # line 4

    def absorb(
        self, state: Posterior, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Update the posterior."""
        update(state, arm, reward, self.prior_std, self.reward_std)  # line 7

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the posterior."""
        return normal_pulls(self.reward_std, examined, squares, mean)

    def probabilities(
        self, state: Posterior, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of one draw from the posterior."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Posterior, arm: int, context: Vector, reward: float) -> None:
        """Take a reward into the posterior of `arm`."""
        observe(self, state, arm, context, reward)


def prior(arms: int, prior_std: float) -> Posterior:
    """Return the posterior before the first reward."""
    arms = rules.count("arms", arms)
    return Posterior(np.zeros(arms), np.zeros(arms), np.zeros(arms), np.full(arms, prior_std))


@kernel
def draw(state: Posterior, arms: Indices, normals: Vector, out: Vector) -> None:
    """Write one draw of the mean of each arm on offer."""
    for position in range(len(arms)):
        out[position] = state.means[arms[position]] + state.stds[arms[position]] * normals[position]


@kernel
def update(state: Posterior, arm: int, reward: float, prior_std: float, reward_std: float) -> None:
    """Take one reward into the posterior of its arm."""
    count_reward(state, arm, reward)
    ratio = (reward_std / prior_std) * (reward_std / prior_std)
    weight = quotient(1.0, ratio + state.pulls[arm])
    state.means[arm] = state.reward_sums[arm] * weight
    state.stds[arm] = reward_std * root(weight)
