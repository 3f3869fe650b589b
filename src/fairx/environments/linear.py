"""Rewards that are linear in the context (Section 4 of the paper)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.numerics.linear_algebra import dot, times
from fairx.types import Indices, Matrix, Vector

from . import base


@record
class Linear(NamedTuple):
    """Arms that pay context . parameter plus normal noise.

    Parameters
    ----------
    contexts
        Of shape (examples, arms, dimension); each round shows one example, drawn uniformly.
    parameter
        Of shape (dimension,).
    noise_std
        The standard deviation of the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import Linear
    >>> environment = Linear(np.eye(2)[None], parameter=[0.3, 0.6], noise_std=0.1)
    >>> environment.means_of(0)
    array([0.3, 0.6])
    """

    contexts: npt.ArrayLike
    parameter: npt.ArrayLike
    noise_std: float = 0.1

    def checked(self) -> Linear:
        """Refuse shapes that do not fit together."""
        hint = "one matrix per example, one row per arm"
        contexts = rules.array("contexts", self.contexts, (None, None, None), hint)
        if 0 in contexts.shape:
            raise ValueError(f"contexts must not be empty, but have shape {contexts.shape}")
        parameter = rules.array("parameter", self.parameter, (contexts.shape[2],))
        rules.number("noise_std", self.noise_std, low=0)
        return changed(self, contexts=contexts, parameter=parameter)

    def world(self, rng: np.random.Generator | None) -> LinearWorld:
        """Return the inner form, the same for every run."""
        contexts, parameter = np.asarray(self.contexts), np.asarray(self.parameter)
        return LinearWorld(contexts, parameter, self.noise_std)

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
        """Return the true mean reward of each arm on offer."""
        return base.means_of(self, example)

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        """Return a reward of `arm`."""
        return base.reward_of(self, example, arm, rng)


class LinearWorld(NamedTuple):
    """The inner form of `Linear`."""

    features: Matrix
    parameter: Vector
    noise_std: float

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest mean over all examples."""
        means = self.features @ self.parameter
        return float(means.min()), float(means.max())

    def reward_range(self) -> tuple[float, float]:
        """Return the ends of all but a few of 1e15 rewards."""
        low, high = self.mean_range()
        return low - base.FAR * self.noise_std, high + base.FAR * self.noise_std

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
        """Write the products of contexts and parameter."""
        times(self.features[example], self.parameter, out)

    def pay(self, example: int, arm: int, uniform: float, normal: float) -> float:
        """Pay the mean and noise."""
        return dot(self.features[example, arm], self.parameter) + self.noise_std * normal


@record
class LinearPrior(NamedTuple):
    """Linear rewards whose parameter is drawn anew for each run from N(0, prior_std**2 I).

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import LinearPrior
    >>> LinearPrior(np.eye(2)[None]).world(np.random.default_rng(1)).parameter.round(2)
    array([0.35, 0.82])
    """

    contexts: npt.ArrayLike
    prior_std: float = 1.0
    noise_std: float = 1.0

    def checked(self) -> LinearPrior:
        """Refuse what `Linear` refuses."""
        rules.positive("prior_std", self.prior_std)
        dimension = np.shape(self.contexts)[-1] if np.ndim(self.contexts) else 0
        checked = Linear(self.contexts, np.zeros(dimension), self.noise_std)
        return changed(self, contexts=checked.contexts)

    def world(self, rng: np.random.Generator) -> LinearWorld:
        """Draw the parameter of one run."""
        contexts = np.asarray(self.contexts)
        parameter = self.prior_std * rng.standard_normal((contexts.shape[2],))
        return LinearWorld(contexts, parameter, self.noise_std)
