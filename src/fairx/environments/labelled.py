"""Bandit problems from multi-label data: classes are arms, labels are rewards (Section 5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.numerics.linear_algebra import times
from fairx.types import Indices, Matrix, Vector

from . import base


@record
class Labelled(NamedTuple):
    """Arms that pay the label of the example shown, and a linear model as the judge's truth.

    The labels need not follow the model: this is the misspecified problem of the paper.

    Parameters
    ----------
    contexts
        Of shape (examples, arms, dimension); each round shows one example, drawn uniformly.
    labels
        Of shape (examples, arms): the rewards.
    parameter
        Of shape (dimension,): means are context . parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx.environments import Labelled
    >>> environment = Labelled(np.eye(2)[None], labels=[[0, 1]], parameter=[0.3, 0.6])
    >>> environment.means_of(0)
    array([0.3, 0.6])
    >>> environment.reward_of(0, arm=1, rng=np.random.default_rng(1))
    1.0
    """

    contexts: npt.ArrayLike
    labels: npt.ArrayLike
    parameter: npt.ArrayLike

    def checked(self) -> Labelled:
        """Refuse shapes that do not fit together."""
        hint = "one matrix per example, one row per arm"
        contexts = rules.array("contexts", self.contexts, (None, None, None), hint)
        if 0 in contexts.shape:
            raise ValueError(f"contexts must not be empty, but have shape {contexts.shape}")
        labels = rules.array("labels", self.labels, contexts.shape[:2], "one row per example")
        parameter = rules.array("parameter", self.parameter, contexts.shape[2:])
        return changed(self, contexts=contexts, labels=labels, parameter=parameter)

    def world(self, rng: np.random.Generator | None) -> LabelledWorld:
        """Return the inner form, the same for every run."""
        contexts, labels = np.asarray(self.contexts), np.asarray(self.labels)
        return LabelledWorld(contexts, labels, np.asarray(self.parameter))

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
        """Return the mean rewards by the linear model."""
        return base.means_of(self, example)

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        """Return the label."""
        return base.reward_of(self, example, arm, rng)


class LabelledWorld(NamedTuple):
    """The inner form of `Labelled`."""

    features: Matrix
    labels: Matrix
    parameter: Vector

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest mean over all examples."""
        means = self.features @ self.parameter
        return float(means.min()), float(means.max())

    def reward_range(self) -> tuple[float, float]:
        """Return the lowest and highest label."""
        return float(self.labels.min()), float(self.labels.max())

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
        """Pay the label."""
        return float(self.labels[example, arm])
