"""FairX-LinTS (Algorithm 4), for rewards of 0 or 1 that are logistic in the context."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import share
from fairx.merit import Merit, merit_given
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .fair_lin_ts import predict_draw
from .logistic import check_chances, check_looks, update_posterior
from .objectives import to_chances
from .ridge import Ridge, new_ridge


@record
class FairXLogisticTS(NamedTuple):
    """Draw the parameter of a logistic regression from its posterior and be fair to the draw.

    Parameters
    ----------
    merit
        What exposure is proportional to: a function of the chance of success, from 0 to 1.
    prior_std
        The standard deviation of the prior of each coefficient, N(0, prior_std**2), in log-odds.

    Notes
    -----
    The mean reward of context x is 1 / (1 + exp(-x . theta)). The paper's Algorithm 4 has a normal
    posterior; here it is the normal that assumed density filtering (Opper 1998) keeps of the logistic
    one, to which the order of rewards matters a little. Rewards between 0 and 1 count for both, by their
    parts. The deployed policy is the one given the draw. Uses one normal number per dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXLogisticTS
    >>> policy = FairXLogisticTS(Exponential(4), prior_std=1)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng).round(2)
    array([0.66, 0.34])
    """

    merit: Merit
    prior_std: float

    def checked(self) -> FairXLogisticTS:
        """Refuse a standard deviation that is not positive."""
        merit_given("merit", self.merit)
        rules.positive("prior_std", self.prior_std)
        return self

    @property
    def any_order(self) -> bool:
        """Whether the order of rewards does not matter: to this posterior it does, a little."""
        return False

    def check_reach(self, low: float, high: float) -> None:
        """Refuse rewards beyond 0 to 1."""
        check_chances(low, high)

    def check_clicks(self, least: float, low: float, high: float) -> None:
        """Refuse places that may not be looked at."""
        check_looks(least)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for one normal number per dimension, and room for two vectors."""
        return dimension, 2 * dimension

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return the prior."""
        return new_ridge(arms, dimension, 1.0 / self.prior_std**2)

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
        predict_draw(state, contexts, normals, 1.0, work, out)  # line 4
        to_chances(out)
        share(self.merit, out, out)  # line 5

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Update the posterior."""
        update_posterior(state, context, reward, work)  # line 8

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of one parameter drawn from the posterior."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the posterior."""
        observe(self, state, arm, context, reward)
