"""FairX-EG: epsilon-greedy exploration around the fair policy of the estimates (Section 5.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, record
from fairx.exposure import mix, share
from fairx.merit import Merit, merit_given
from fairx.numerics.elementary import exp
from fairx.slates.places import Page
from fairx.slates.target import share_places
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .counts import count_reward, means_so_far
from .many_arms import weigher_of_merits
from .optimism import LARGE, SMALL


class Estimates(NamedTuple):
    """Counts of each arm, and the merit of its mean reward."""

    pulls: Vector
    reward_sums: Vector
    merits: Vector


@record
class FairXEG(NamedTuple):
    """Be fair to the mean rewards seen so far, and uniform a fraction `epsilon` of the time.

    Notes
    -----
    Estimates start at 0. The deployed probabilities are the mixture
    (1 - epsilon) fair(estimates) + epsilon / K, and regret is that of the mixture. Draws
    no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXEG
    >>> policy = FairXEG(Exponential(4), epsilon=0.1)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(3)
    array([0.934, 0.066])
    """

    merit: Merit
    epsilon: float

    def checked(self) -> FairXEG:
        """Refuse a fraction outside 0 to 1."""
        merit_given("merit", self.merit)
        rules.number("epsilon", self.epsilon, low=0, high=1)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Estimates:
        """Return estimates of 0."""
        arms = rules.count("arms", arms)
        return Estimates(np.zeros(arms), np.zeros(arms), np.full(arms, exp(self.merit.log(0.0))))

    def propose(
        self,
        state: Estimates,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Mix the fair policy of the estimates with the uniform one."""
        total = 0.0
        for position in range(len(arms)):
            out[position] = state.merits[arms[position]]
            total += out[position]
        if SMALL < total < LARGE:
            mix(out, (1.0 - self.epsilon) / total, self.epsilon)
        else:
            means_so_far(state, arms, out)
            share(self.merit, out, out)
            mix(out, 1.0 - self.epsilon, self.epsilon)

    def weigher(self, arms: int, low: float, high: float) -> Any:
        """Return what weighs many arms, for rewards from `low` to `high`: the merits that are kept."""
        return weigher_of_merits(self.merit, self.epsilon, low, high)

    def propose_slate(
        self, state: Estimates, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Mix the fair exposures of the estimates with equal ones."""
        means_so_far(state, arms, out)
        share_places(self.merit, out, page, out)
        mix_exposures(self.epsilon, out)

    def absorb(
        self, state: Estimates, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Count the pull and keep the merit of the new mean."""
        state.merits[arm] = exp(self.merit.log(count_reward(state, arm, reward)))

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return how often the arm was looked at: nothing but the mean matters."""
        return examined

    def probabilities(
        self, state: Estimates, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the mean rewards, mixed with the uniform one."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Estimates, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm` and keep the merit of its new mean."""
        observe(self, state, arm, context, reward)


@kernel
def mix_exposures(epsilon: float, out: Vector) -> None:
    """Share out a fraction `epsilon` of all exposure equally: a ranking can still have the others."""
    total = 0.0
    for position in range(len(out)):
        total += out[position]
    mix(out, 1.0 - epsilon, epsilon * total)
