"""FairX-LinUCB (Algorithm 3), for rewards of 0 or 1 that are logistic in the context."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.merit import Merit, merit_given
from fairx.types import Indices, Matrix, Vector

from .base import deploy, named, observe
from .ellipsoid import Ascent
from .gradient import Gradient
from .logistic import check_chances, check_looks, update_posterior
from .objectives import Chances
from .ridge import Ridge, new_ridge


@record
class FairXLogisticUCB(NamedTuple):
    """Be fair to the most optimistic parameter of a logistic regression within an ellipsoid.

    Parameters
    ----------
    merit
        What exposure is proportional to: a function of the chance of success, from 0 to 1.
    beta
        The squared radius of the ellipsoid, in standard deviations of the posterior.
    ridge
        The precision of the prior of each coefficient, in log-odds: lambda in the paper.
    solver
        As of `FairXLinUCB`, for the chances of success.

    Notes
    -----
    The ellipsoid lies around the mean of the posterior that `FairXLogisticTS` draws from, in the norm of
    its precision, in which a reward weighs as much as it tells: less where the chance is near 0 or 1. The
    paper's schedule `Confidence` is for linear rewards, and is refused. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXLogisticUCB
    >>> policy = FairXLogisticUCB(Exponential(4), beta=0.1, ridge=1)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng).round(2)
    array([0.63, 0.37])
    """

    merit: Merit
    beta: float
    ridge: float
    solver: Any = "ascent"

    def checked(self) -> FairXLogisticUCB:
        """Turn a name into a solver."""
        merit_given("merit", self.merit)
        rules.number("beta", self.beta, low=0)
        rules.positive("ridge", self.ridge)
        solvers = {"ascent": Ascent(), "gradient": Gradient()}
        return changed(self, solver=named("solver", self.solver, solvers))

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
        """Ask for what the solver needs."""
        return 0, self.solver.room_within(arms, dimension)

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return the prior (line 2)."""
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
        """Deploy the optimistic fair policy (lines 5 to 8)."""
        size = math.sqrt(self.beta)  # line 6
        objective = Chances(self.merit)
        self.solver.deploy_within(objective, state, size, contexts, work, out)  # lines 7 and 8

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Update the posterior."""
        update_posterior(state, context, reward, work)  # lines 11 and 12

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the most optimistic parameter."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the posterior."""
        observe(self, state, arm, context, reward)
