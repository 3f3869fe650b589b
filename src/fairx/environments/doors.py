"""The public doors of our own environments: the inner form, given a generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairx.types import Vector


def draw(environment: Any, rng: np.random.Generator) -> int:
    """Return the example that this round shows (one uniform number)."""
    return int(environment.pick(rng.random()))


def means(environment: Any, example: int) -> Vector:
    """Return the true mean reward of each arm on offer: for the judge only."""
    out = np.empty(len(environment.arms(example)))
    environment.fill_means(example, out)
    return out


def reward(environment: Any, example: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward of `arm` (one uniform and one normal number)."""
    return float(environment.pay(example, arm, rng.random(), rng.standard_normal()))
