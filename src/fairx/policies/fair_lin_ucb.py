"""FairX-LinUCB (Algorithm 3)."""

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
from .intervals import bounds_given
from .objectives import Within
from .radius import radius
from .ridge import Ridge, new_ridge, regress


@record
class FairXLinUCB(NamedTuple):
    """Be fair to the most optimistic parameter within an ellipsoid around the ridge solution.

    Parameters
    ----------
    merit
        What exposure is proportional to.
    beta
        The squared radius of the ellipsoid: a number, or `Confidence(norm, delta)`, the
        schedule of the paper's appendix.
    ridge
        The regularisation, lambda in the paper.
    solver
        "ascent" (near the global optimum), "gradient" (the paper's ten steps), or a record
        `Ascent(...)` or `Gradient(steps, rate)`. The two are different algorithms where the
        ellipsoid is wide: the ten steps then find less than half of the attainable optimism.
    bounds
        The lowest and the highest mean there can be, where that is known: what a parameter predicts
        beyond is brought back to them. A merit that is not positive everywhere needs it.

    Notes
    -----
    No arm needs a first pull: the ridge solution is defined from the start. The paper does not
    say how its gradient steps are projected: here they are scaled back in the norm of the
    precision. Draws no random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, FairXLinUCB
    >>> policy = FairXLinUCB(Exponential(3), beta=0.1, ridge=1)
    >>> state = policy.start(arms=2, dimension=2)
    >>> policy.learn(state, arm=0, context=np.array([1.0, 0.0]), reward=1.0)
    >>> arms, rng = np.array([0, 1]), np.random.default_rng(0)
    >>> policy.probabilities(state, arms, np.eye(2), rng).round(2)
    array([0.91, 0.09])
    """

    merit: Merit
    beta: Any
    ridge: float
    solver: Any = "ascent"
    bounds: Any = None

    def checked(self) -> FairXLinUCB:
        """Turn a number and a name into a radius and a solver."""
        merit_given("merit", self.merit)
        rules.positive("ridge", self.ridge)
        solvers = {"ascent": Ascent(), "gradient": Gradient()}
        solver = named("solver", self.solver, solvers)
        bounds = bounds_given(self.bounds)
        return changed(self, beta=radius(self.beta), solver=solver, bounds=bounds)

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for what the solver needs."""
        return 0, self.solver.room_within(arms, dimension)

    def start(self, arms: int, dimension: int) -> Ridge:
        """Return an empty regression (line 2)."""
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
        t = state.observations[0] + 1.0
        size = math.sqrt(self.beta.squared_radius(t, contexts.shape[1]))  # line 6
        objective = Within(self.merit, self.bounds)
        self.solver.deploy_within(objective, state, size, contexts, work, out)  # lines 7 and 8

    def absorb(self, state: Ridge, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Take the reward into the regression."""
        regress(state, context, reward, work)  # lines 11 and 12

    def probabilities(
        self, state: Ridge, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the fair policy of the most optimistic parameter."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Ridge, arm: int, context: Vector, reward: float) -> None:
        """Take a context and its reward into the regression."""
        observe(self, state, arm, context, reward)
