"""Thompson sampling, the conventional counterpart of FairX-TS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import highest, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .clicks import normal_pulls
from .fair_ts import Posterior, draw, prior, update


@record
class TS(NamedTuple):
    """Draw mean rewards from the posterior and play the best arm of the draw.

    Notes
    -----
    Prior and likelihood are those of `FairXTS`. The deployed policy is the one given the draw:
    all exposure on one arm, the lowest on ties. Uses one normal number per arm on offer.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import TS
    >>> policy = TS(prior_std=1, reward_std=0.5)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng)
    array([1., 0.])
    """

    prior_std: float
    reward_std: float

    def checked(self) -> TS:
        """Refuse standard deviations that are not positive."""
        rules.positive("prior_std", self.prior_std)
        rules.positive("reward_std", self.reward_std)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for one normal number per arm."""
        return arms, 0

    def start(self, arms: int, dimension: int = 0) -> Posterior:
        """Return the prior."""
        return prior(arms, self.prior_std)

    def score_arms(
        self, state: Posterior, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write one draw of the means."""
        draw(state, arms, normals, out)

    def propose(
        self,
        state: Posterior,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Play the best arm of one draw."""
        self.score_arms(state, arms, contexts, normals, work, out)
        put_all_on(highest(out), out)

    def absorb(
        self, state: Posterior, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Update the posterior."""
        update(state, arm, reward, self.prior_std, self.reward_std)

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the posterior."""
        return normal_pulls(self.reward_std, examined, squares, mean)

    def probabilities(
        self, state: Posterior, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Put everything on the arm with the highest draw."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Posterior, arm: int, context: Vector, reward: float) -> None:
        """Take a reward into the posterior of `arm`."""
        observe(self, state, arm, context, reward)
