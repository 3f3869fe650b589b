"""The two problems that all loops are timed on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Problem(NamedTuple):
    """Arms that pay 1 or 0, and how steeply merit grows with the mean reward."""

    means: Floats
    steepness: float


class LinearProblem(NamedTuple):
    """Arms that pay context . parameter plus normal noise; each round shows one example."""

    contexts: Floats  # examples x arms x dimension
    parameter: Floats
    noise_std: float
    steepness: float


# The label frequencies of the yeast data, near enough: its random example with one label revealed
# is, to a policy without contexts, just a Bernoulli arm.
YEAST = (
    *(0.0139, 0.2553, 0.0736, 0.3119, 0.4311, 0.4046, 0.2987),
    *(0.1763, 0.1990, 0.0720, 0.7489, 0.7538, 0.3148, 0.4257),
)


def yeast() -> Problem:
    """Return 14 arms with the yeast-like means."""
    return Problem(np.array(YEAST), steepness=10.0)


def unit_contexts(
    examples: int = 2000, arms: int = 14, dimension: int = 50, seed: int = 0
) -> LinearProblem:
    """Return contexts of length 1 in random directions, and a parameter of length 1."""
    rng = np.random.default_rng(seed)
    contexts = rng.standard_normal((examples, arms, dimension))
    parameter = rng.standard_normal(dimension)
    contexts /= np.linalg.norm(contexts, axis=2, keepdims=True)
    parameter /= np.linalg.norm(parameter)
    return LinearProblem(contexts, parameter, noise_std=0.1, steepness=3.0)
