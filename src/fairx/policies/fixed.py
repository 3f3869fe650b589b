"""Policies that do not learn: the optimal fair policy, and the uniform one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.exposure import fair_rows, share
from fairx.merit import Merit, merit_given
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .many_arms import KnownWeights


class Shares(NamedTuple):
    """The means that exposure follows."""

    means: Vector


@record
class OptimalFair(NamedTuple):
    """Deploy the fair policy of the true means: what the others are measured against.

    Notes
    -----
    Its regret is 0 where the judge has the same merit and the environment the same means.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, OptimalFair
    >>> policy = OptimalFair(Exponential(4), means=[0.2, 0.8])
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng).round(3)
    array([0.083, 0.917])
    """

    merit: Merit
    means: npt.ArrayLike

    def checked(self) -> OptimalFair:
        """Turn the means into a tuple of numbers."""
        merit_given("merit", self.merit)
        means = rules.array("means", self.means, (None,))
        rules.count("the number of means", means.size)
        return changed(self, means=tuple(means.tolist()))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Shares:
        """Return the merits of the means."""
        if np.size(self.means) != rules.count("arms", arms):
            raise ValueError(
                f"means must be given for all {arms} arms, not for {np.size(self.means)}"
            )
        return Shares(np.array(self.means))

    def propose(
        self,
        state: Shares,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Deploy the fair policy of the arms on offer."""
        for position in range(len(arms)):
            out[position] = state.means[arms[position]]
        share(self.merit, out, out)

    def weigher(self, arms: int, low: float, high: float) -> Any:
        """Return what weighs many arms: their fair probabilities."""
        return KnownWeights(fair_rows(self.merit, np.array([self.means]))[0])

    def absorb(self, state: Shares, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Learn nothing."""
        return

    def probabilities(
        self, state: Shares, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the true means."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Shares, arm: int, context: Vector, reward: float) -> None:
        """Check the reward and learn nothing: the means are known."""
        observe(self, state, arm, context, reward)


@record
class Uniform(NamedTuple):
    """Give every arm on offer the same exposure.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Uniform
    >>> policy = Uniform()
    >>> state = policy.start(arms=4, dimension=0)
    >>> policy.probabilities(state, np.arange(4), np.empty((4, 0)), np.random.default_rng(0))
    array([0.25, 0.25, 0.25, 0.25])
    """

    whole: float = 1.0  # what is divided: Numba needs a record to have a field

    def checked(self) -> Uniform:
        """Refuse to divide anything but 1."""
        rules.number("whole", self.whole, low=1, high=1)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing."""
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Shares:
        """Return equal means."""
        return Shares(np.zeros(rules.count("arms", arms)))

    def propose(
        self,
        state: Shares,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Divide by the number of arms on offer."""
        for position in range(len(arms)):
            out[position] = self.whole / len(arms)

    def weigher(self, arms: int, low: float, high: float) -> Any:
        """Return what weighs many arms: the same for each."""
        return KnownWeights(np.ones(arms))

    def absorb(self, state: Shares, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Learn nothing."""
        return

    def probabilities(
        self, state: Shares, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the same probability for each."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Shares, arm: int, context: Vector, reward: float) -> None:
        """Check the reward and learn nothing."""
        observe(self, state, arm, context, reward)
