"""Environments of others: the public door, made to fit the loop that calls the inner form."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import own_copy
from fairx.types import Indices, Matrix, Vector

DOORS = ("draw", "arms_of", "contexts_of", "means_of", "reward_of")


class ForeignWorld(NamedTuple):
    """An environment with the five public methods alone, as the loop wants it."""

    environment: Any
    rng: np.random.Generator
    features: Matrix  # room for one example

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest mean of the first example."""
        means = self.environment.means_of(0)
        return float(min(means)), float(max(means))

    def pick(self, uniform: float) -> int:
        """Let the environment draw from its own generator."""
        return self.environment.draw(self.rng)  # type: ignore[no-any-return]

    def row(self, example: int) -> int:
        """Copy the contexts to where the loop looks for them."""
        contexts = self.environment.contexts_of(example)
        for position in range(contexts.shape[0]):
            for i in range(contexts.shape[1]):
                self.features[0, position, i] = contexts[position, i]
        return 0

    def candidates(self, example: int) -> Indices:
        """Return the arms on offer."""
        return self.environment.arms_of(example)  # type: ignore[no-any-return]

    def fill_means(self, example: int, out: Vector) -> None:
        """Copy the means."""
        means = self.environment.means_of(example)
        for position in range(len(out)):
            out[position] = means[position]

    def pay(self, example: int, arm: int, uniform: float, normal: float) -> float:
        """Let the environment pay; refuse what no policy could learn from."""
        reward = self.environment.reward_of(example, arm, self.rng)
        if not math.isfinite(reward):
            raise ValueError("rewards must be finite, but this environment's are not")
        return reward  # type: ignore[no-any-return]


def wrapped(environment: Any, rng: np.random.Generator) -> ForeignWorld:
    """Return the inner form of an environment of others, if it has the five methods.

    The number of arms is that of `size()`, where the environment has it, or else of the first
    example.
    """
    for door in DOORS:
        if not callable(getattr(environment, door, None)):
            message = f"environment must have {', '.join(DOORS)}, but {environment!r} has no {door}"
            raise TypeError(message)
    shape = environment.size() if hasattr(environment, "size") else environment.contexts_of(0).shape
    return ForeignWorld(own_copy(environment), rng, np.zeros((1, *shape)))
