"""FairX-LinTS (Algorithm 4), for normal rewards under a normal prior."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, kernel, record, turns
from fairx.exposure import share
from fairx.merit import Merit, merit_given
from fairx.numerics.linear_algebra import times, transpose_times
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .intervals import bounds_given, clip_means
from .ridge import Ridge, new_ridge, regress


@record
class FairXLinTS(NamedTuple):
    """Draw the parameter from the posterior and be fair to the draw.

    Notes
    -----
    `bounds`, where given, are the lowest and the highest mean there can be: what is predicted beyond
    is brought back to them.
    The prior of the parameter is N(0, prior_std**2 I) and rewards are normal, so that the posterior
    is that of a ridge regression with ridge (reward_std / prior_std)**2. The deployed policy is the
    one given the draw. The listing's line 5 misprints its subscripts; read theta_t . x_t,a in both
    sums. Uses one normal number per dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXLinTS
    >>> policy = FairXLinTS(Exponential(3), prior_std=1, reward_std=0.5)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng).round(2)
    array([0.95, 0.05])
    """

    merit: Merit
    prior_std: float
    reward_std: float
    bounds: Any = None

    def checked(self) -> FairXLinTS:
        """Refuse standard deviations that are not positive."""
        merit_given("merit", self.merit)
        rules.positive("prior_std", self.prior_std)
        rules.positive("reward_std", self.reward_std)
        return changed(self, bounds=bounds_given(self.bounds))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for one normal number per dimension, and room for two vectors."""
        return dimension, 2 * dimension

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return the prior."""
        return new_ridge(arms, dimension, (self.reward_std / self.prior_std) ** 2)

    def propose(
        self,
        state: Ridge,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Deploy the fair policy of one draw."""
        predict_draw(state, contexts, normals, self.reward_std, work, out)  # line 4
        clip_means(self.bounds, out)
        share(self.merit, out, out)  # line 5

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Update the posterior."""
        regress(state, context, reward, work)  # line 8

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of one parameter drawn from the posterior."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the posterior."""
        observe(self, state, arm, context, reward)


@kernel
def predict_draw(
    state: Ridge, contexts: Matrix, normals: Vector, reward_std: float, work: Vector, out: Vector
) -> None:
    """Write the mean reward of each arm on offer under one draw of the parameter."""
    d = len(state.estimate)
    parameter, scaled = work[:d], work[d : 2 * d]
    for i in turns(d):
        scaled[i] = reward_std * math.sqrt(state.scales[i]) * normals[i]
    transpose_times(state.factor, scaled, parameter)
    for i in turns(d):
        parameter[i] += state.estimate[i]
    times(contexts, parameter, out)
