"""Arms that pay 1 or 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.types import Indices, Matrix, Vector

from . import base


@record
class Bernoulli(NamedTuple):
    """Arms that pay 1 with the probabilities `means`, and 0 otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import Bernoulli
    >>> environment, rng = Bernoulli([0.2, 0.8]), np.random.default_rng(1)
    >>> [environment.reward_of(0, arm=1, rng=rng) for _ in range(4)]
    [1.0, 1.0, 1.0, 0.0]
    """

    means: npt.ArrayLike

    def checked(self) -> Bernoulli:
        """Refuse probabilities outside 0 to 1."""
        means = arm_means(self.means)
        for arm, mean in enumerate(means.tolist()):
            rules.number(f"means[{arm}]", mean, low=0, high=1)
        return changed(self, means=means)

    def world(self, rng: np.random.Generator | None) -> BernoulliWorld:
        """Return the inner form, the same for every run."""
        means = np.asarray(self.means)
        return BernoulliWorld(means, np.empty((1, means.size, 0)))

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


class BernoulliWorld(NamedTuple):
    """The inner form of `Bernoulli`."""

    means: Vector
    features: Matrix

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest mean."""
        return float(self.means.min()), float(self.means.max())

    def reward_range(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0

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
        """Pay 1 if the uniform number is below the arm's mean."""
        return 1.0 if uniform < self.means[arm] else 0.0


def arm_means(means: Any) -> Vector:
    """Return the means of at least one arm as an array."""
    found = rules.array("means", means, (None,))
    rules.count("the number of means", found.size)
    return found
