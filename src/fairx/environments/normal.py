"""Arms whose rewards are normal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.types import Indices, Matrix, Vector

from . import base
from .bernoulli import arm_means


@record
class Normal(NamedTuple):
    """Arms that pay `means` plus normal noise of standard deviation `std`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import Normal
    >>> environment, rng = Normal([0.2, 0.8], std=0.1), np.random.default_rng(1)
    >>> round(environment.reward_of(0, arm=1, rng=rng), 3)
    0.882
    """

    means: npt.ArrayLike
    std: float = 1.0

    def checked(self) -> Normal:
        """Refuse noise that is negative."""
        rules.number("std", self.std, low=0)
        return changed(self, means=arm_means(self.means))

    def world(self, rng: np.random.Generator | None) -> NormalWorld:
        """Return the inner form, the same for every run."""
        means = np.asarray(self.means)
        return NormalWorld(means, np.empty((1, means.size, 0)), self.std)

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


class NormalWorld(NamedTuple):
    """The inner form of `Normal`."""

    means: Vector
    features: Matrix
    std: float

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest mean."""
        return float(self.means.min()), float(self.means.max())

    def reward_range(self) -> tuple[float, float]:
        """Return the ends of all but a few of 1e15 rewards."""
        low, high = self.mean_range()
        return low - base.FAR * self.std, high + base.FAR * self.std

    def pick(self, uniform: float, t: int) -> int:
        """Show the one example there is."""
        return 0

    def key(self, example: int, t: int) -> int:
        """Return the example."""
        return example

    def row(self, example: int) -> int:
        """Point at no features."""
        return 0

    def candidates(self, example: int) -> Indices:
        """Return every arm."""
        return range(len(self.means))  # type: ignore[return-value]

    def fill_means(self, example: int, out: Vector) -> None:
        """Write the means."""
        for arm in range(len(out)):
            out[arm] = self.means[arm]

    def pay(self, example: int, arm: int, uniform: float, normal: float) -> float:
        """Pay the mean and noise."""
        return float(self.means[arm] + self.std * normal)


@record
class NormalPrior(NamedTuple):
    """Normal arms whose means are drawn anew for each run from N(0, prior_std**2).

    Regret averaged over runs is then the Bayesian regret of the FairX-TS theorems.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import NormalPrior
    >>> NormalPrior(arms=3).world(np.random.default_rng(1)).means.round(2)
    array([0.35, 0.82, 0.33])
    """

    arms: int
    prior_std: float = 1.0
    std: float = 1.0

    def checked(self) -> NormalPrior:
        """Refuse fewer than one arm."""
        rules.count("arms", self.arms)
        rules.positive("prior_std", self.prior_std)
        rules.number("std", self.std, low=0)
        return self

    def world(self, rng: np.random.Generator) -> NormalWorld:
        """Draw the means of one run."""
        return Normal(self.prior_std * rng.standard_normal(self.arms), self.std).world(rng)
