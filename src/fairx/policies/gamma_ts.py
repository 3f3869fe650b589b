"""Thompson sampling for counts, the conventional counterpart of FairX-TS with a gamma prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.compiled import record
from fairx.exposure import highest, put_all_on
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .fair_gamma_ts import (
    GammaPosterior,
    check_counts,
    check_prior,
    count_pulls,
    draw_rates,
    gamma_prior,
    update_rates,
)


@record
class GammaTS(NamedTuple):
    """Draw the mean counts from their gamma posteriors and play the best arm of the draw.

    Notes
    -----
    Prior and likelihood are those of `FairXGammaTS`. The deployed policy is the one given the draw:
    all exposure on one arm, the lowest on ties. Uses one normal number per arm on offer.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import GammaTS
    >>> policy = GammaTS()
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.learn(state, arm=0, context=np.empty(0), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.empty((2, 0)), rng)
    array([1., 0.])
    """

    shape: float = 1.0
    rate: float = 1.0

    def checked(self) -> GammaTS:
        """Refuse a prior that is none."""
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

    def score_arms(
        self, state: GammaPosterior, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        out: Vector,
    ) -> None:  # fmt: skip
        """Write one draw of the means."""
        draw_rates(state, arms, normals, out)

    def propose(
        self,
        state: GammaPosterior,
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
        self, state: GammaPosterior, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Update the posterior."""
        update_rates(state, arm, reward, self.shape, self.rate)

    def effective_pulls(self, shows: float, examined: float, squares: float, mean: float) -> float:
        """Return what clicks are worth to the posterior."""
        return count_pulls(examined, squares, mean)

    def probabilities(
        self, state: GammaPosterior, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Put everything on the arm with the highest draw."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: GammaPosterior, arm: int, context: Vector, reward: float) -> None:
        """Take a reward into the posterior of `arm`."""
        observe(self, state, arm, context, reward)
