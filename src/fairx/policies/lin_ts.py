"""Linear Thompson sampling, the conventional counterpart of FairX-LinTS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import highest, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .fair_lin_ts import predict_draw
from .ridge import Ridge, new_ridge, regress


@record
class LinTS(NamedTuple):
    """Draw the parameter from the posterior and play the best arm of the draw.

    Notes
    -----
    Prior and likelihood are those of `FairXLinTS`. The deployed policy is the one given the draw:
    all exposure on one arm, the lowest on ties. Uses one normal number per dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import LinTS
    >>> policy = LinTS(prior_std=1, reward_std=0.5)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng)
    array([1., 0.])
    """

    prior_std: float
    reward_std: float

    def checked(self) -> LinTS:
        """Refuse standard deviations that are not positive."""
        rules.positive("prior_std", self.prior_std)
        rules.positive("reward_std", self.reward_std)
        return self

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for one normal number per dimension, and room for two vectors."""
        return dimension, 2 * dimension

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return the prior."""
        return new_ridge(arms, dimension, (self.reward_std / self.prior_std) ** 2)

    def score_arms(
        self, state: Ridge, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write the means by one drawn parameter."""
        predict_draw(state, contexts, normals, self.reward_std, work, out)

    def propose(
        self,
        state: Ridge,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Play the best arm of one draw."""
        self.score_arms(state, arms, contexts, normals, work, out)
        put_all_on(highest(out), out)

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Update the posterior."""
        regress(state, context, reward, work)

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Put everything on the arm with the highest mean by one drawn parameter."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the posterior."""
        observe(self, state, arm, context, reward)
