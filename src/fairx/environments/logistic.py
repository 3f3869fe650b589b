"""Rewards of 0 or 1 whose log-odds are linear in the context."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.numerics.elementary import chance
from fairx.numerics.linear_algebra import dot, times
from fairx.types import Indices, Matrix, Vector

from . import base
from .linear import Linear


@record
class LogisticLinear(NamedTuple):
    """Arms that pay 1 with chance 1 / (1 + exp(-context . parameter)), and 0 otherwise.

    Parameters
    ----------
    contexts
        Of shape (examples, arms, dimension); each round shows one example, drawn uniformly.
    parameter
        Of shape (dimension,).

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import LogisticLinear
    >>> environment = LogisticLinear(np.eye(2)[None], parameter=[0.0, 2.0])
    >>> environment.means_of(0).round(3)
    array([0.5  , 0.881])
    """

    contexts: npt.ArrayLike
    parameter: npt.ArrayLike

    def checked(self) -> LogisticLinear:
        """Refuse what `Linear` refuses."""
        checked = Linear(self.contexts, self.parameter)
        return changed(self, contexts=checked.contexts, parameter=checked.parameter)

    def world(self, rng: np.random.Generator | None) -> LogisticWorld:
        """Return the inner form, the same for every run."""
        return LogisticWorld(np.asarray(self.contexts), np.asarray(self.parameter))

    def draw(self, rng: np.random.Generator) -> int:
        """Return the example that this round shows."""
        return base.draw(self, rng)

    def arms_of(self, example: int) -> Indices:
        """Return the arms on offer."""
        return base.arms_of(self, example)

    def contexts_of(self, example: int) -> Matrix:
        """Return one row per arm on offer."""
        return base.contexts_of(self, example)

    def means_of(self, example: int) -> Vector:
        """Return the true chance of each arm on offer."""
        return base.means_of(self, example)

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        """Return a reward of `arm`."""
        return base.reward_of(self, example, arm, rng)


class LogisticWorld(NamedTuple):
    """The inner form of `LogisticLinear`."""

    features: Matrix
    parameter: Vector

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest chance over all examples."""
        odds = self.features @ self.parameter
        return float(chance(odds.min())), float(chance(odds.max()))

    def reward_range(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0

    def pick(self, uniform: float, t: int) -> int:
        """Draw an example uniformly."""
        return int(uniform * len(self.features))

    def key(self, example: int, t: int) -> int:
        """Return the example."""
        return example

    def row(self, example: int) -> int:
        """Point at the example itself."""
        return example

    def candidates(self, example: int) -> Indices:
        """Return every arm."""
        return range(self.features.shape[1])  # type: ignore[return-value]

    def fill_means(self, example: int, out: Vector) -> None:
        """Write the chances of the products of contexts and parameter."""
        times(self.features[example], self.parameter, out)
        for arm in range(len(out)):
            out[arm] = chance(out[arm])

    def pay(self, example: int, arm: int, uniform: float, normal: float) -> float:
        """Pay 1 with the chance of the arm."""
        mean = chance(dot(self.features[example, arm], self.parameter))
        return 1.0 if uniform < mean else 0.0


@record
class LogisticPrior(NamedTuple):
    """Logistic rewards whose parameter is drawn anew for each run from N(0, prior_std**2 I).

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import LogisticPrior
    >>> LogisticPrior(np.eye(2)[None]).world(np.random.default_rng(1)).parameter.round(2)
    array([0.35, 0.82])
    """

    contexts: npt.ArrayLike
    prior_std: float = 1.0

    def checked(self) -> LogisticPrior:
        """Refuse what `Linear` refuses."""
        rules.positive("prior_std", self.prior_std)
        dimension = np.shape(self.contexts)[-1] if np.ndim(self.contexts) else 0
        return changed(self, contexts=Linear(self.contexts, np.zeros(dimension)).contexts)

    def world(self, rng: np.random.Generator) -> LogisticWorld:
        """Draw the parameter of one run."""
        contexts = np.asarray(self.contexts)
        parameter = self.prior_std * rng.standard_normal((contexts.shape[2],))
        return LogisticWorld(contexts, parameter)
