"""Thompson sampling for rewards of 0 or 1, the conventional counterpart of FairX-TS with a beta prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.compiled import record
from fairx.exposure import highest, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .fair_beta_ts import (
    BetaPosterior,
    beta_prior,
    check_chances,
    check_prior,
    coin_pulls,
    draw_chances,
    update_chances,
)


@record
class BetaTS(NamedTuple):
    """Draw the chances of success from their beta posteriors and play the best arm of the draw.

    Notes
    -----
    Prior and likelihood are those of `FairXBetaTS`. The deployed policy is the one given the draw:
    all exposure on one arm, the lowest on ties. Uses two normal numbers per arm on offer.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import BetaTS
    >>> policy = BetaTS()
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng)
    array([1., 0.])
    """

    successes: float = 1.0
    failures: float = 1.0

    def checked(self) -> BetaTS:
        """Refuse a prior that is none."""
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

    def score_arms(
        self, state: BetaPosterior, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write one draw of the chances."""
        draw_chances(state, arms, normals, work, out)

    def propose(
        self,
        state: BetaPosterior,
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
        self, state: BetaPosterior, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Update the posterior."""
        update_chances(state, arm, reward, self.successes, self.failures)

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the posterior."""
        return coin_pulls(examined, squares, mean)

    def probabilities(
        self, state: BetaPosterior, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Put everything on the arm with the highest draw."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: BetaPosterior, arm: int, context: Vector, reward: float) -> None:
        """Take a reward into the posterior of `arm`."""
        observe(self, state, arm, context, reward)
