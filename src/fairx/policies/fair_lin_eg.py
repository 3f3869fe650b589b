"""FairX-LinEG: epsilon-greedy around the fair policy of the ridge solution (Section 5.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.exposure import mix, share
from fairx.merit import Merit, merit_given
from fairx.slates.places import Page
from fairx.slates.target import share_places
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .fair_eg import mix_exposures
from .intervals import bounds_given, clip_means
from .ridge import Ridge, new_ridge, predict, regress


@record
class FairXLinEG(NamedTuple):
    """Be fair to the ridge solution, and uniform a fraction `epsilon` of the time.

    Notes
    -----
    `bounds`, where given, are the lowest and the highest mean there can be: what is predicted beyond
    is brought back to them.
    The estimate starts at 0. The deployed probabilities are the mixture
    (1 - epsilon) fair(estimates) + epsilon / K, and regret is that of the mixture. Draws
    no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXLinEG
    >>> policy = FairXLinEG(Exponential(3), epsilon=0.1, ridge=1)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng).round(3)
    array([0.786, 0.214])
    """

    merit: Merit
    epsilon: float
    ridge: float
    bounds: Any = None

    def checked(self) -> FairXLinEG:
        """Refuse a fraction outside 0 to 1 and a ridge that is not positive."""
        merit_given("merit", self.merit)
        rules.number("epsilon", self.epsilon, low=0, high=1)
        rules.positive("ridge", self.ridge)
        return changed(self, bounds=bounds_given(self.bounds))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for two vectors."""
        return 0, 2 * dimension

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return an estimate of 0."""
        return new_ridge(arms, dimension, self.ridge)

    def propose(
        self,
        state: Ridge,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Mix the fair policy of the estimates with the uniform one."""
        predict(state, contexts, out)
        clip_means(self.bounds, out)
        share(self.merit, out, out)
        mix(out, 1.0 - self.epsilon, self.epsilon)

    def propose_slate(
        self, state: Ridge, arms: Indices, contexts: Matrix, normals: Vector, work: Vector,
        page: Page, out: Vector,
    ) -> None:  # fmt: skip
        """Mix the fair exposures of the estimates with equal ones."""
        predict(state, contexts, out)
        clip_means(self.bounds, out)
        share_places(self.merit, out, page, out)
        mix_exposures(self.epsilon, out)

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Take the reward into the regression."""
        regress(state, context, reward, work)

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the estimates, mixed with the uniform one."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the regression."""
        observe(self, state, arm, context, reward)
