"""FairX-UCB that is optimistic about one place, and then fair on several: what caps cost it.

This is a record of the experiment `slates`, not one of our policies: where places are too small for the
first arms, what it deploys promises less than the truth may, and it explores too little.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import changed, record
from fairx.merit import Merit
from fairx.policies import FairXUCB
from fairx.policies.clicks import bounded_pulls
from fairx.types import Indices, Matrix, Vector


@record
class OnePlaceUCB(NamedTuple):
    """FairX-UCB with the optimum of one place, whose merits the exposures of all places follow.

    Examples
    --------
    >>> from fairx import Exponential, environments, simulate
    >>> merit, world = Exponential(4), environments.Bernoulli([0.2, 0.5, 0.8])
    >>> policy = OnePlaceUCB(merit, width=0.1)
    >>> simulate(policy, world, merit, rounds=500, seed=1, weights=2).exposure.round(1)
    array([[0.2, 0.8, 1. ]])
    """

    merit: Merit
    width: float
    whole: Any = None

    def checked(self) -> OnePlaceUCB:
        """Make the policy that is played."""
        return changed(self, whole=FairXUCB(self.merit, self.width))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for what FairX-UCB does."""
        needed: tuple[int, int] = self.whole.needs(arms, dimension)
        return needed

    def start(self, arms: int, dimension: int = 0) -> Any:
        """Return intervals without ends."""
        return self.whole.start(arms, dimension)

    def propose(
        self, state: Any, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Deploy the optimum of one place."""
        self.whole.propose(state, arms, contexts, normals, work, out)

    def absorb(self, state: Any, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Count the pull and move the arm's interval."""
        self.whole.absorb(state, arm, context, reward, work)

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the interval."""
        return bounded_pulls(shows, examined)

    def probabilities(
        self, state: Any, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the most optimistic means."""
        found: Vector = self.whole.probabilities(state, arms, contexts, rng)
        return found

    def learn(self, state: Any, arm: int, context: Vector, reward: float) -> None:
        """Count a reward of `arm` and move its interval."""
        self.whole.learn(state, arm, context, reward)
