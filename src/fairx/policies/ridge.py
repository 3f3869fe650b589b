"""Ridge regression kept up to date: what policies with contexts learn from.

The inverse of the precision V is kept as a product R'R, and R follows each new context by a
rank-one change (Potter's square root filter). R'R cannot lose its positive definiteness, a draw
from N(0, V^-1) is R' times normal numbers, and no round costs more than O(d^2).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel
from fairx.linear_algebra import add_outer, dot, times, transpose_times
from fairx.types import Matrix, Vector


class Ridge(NamedTuple):
    """Sums over all rewards, and what follows from them."""

    precision: Matrix  # V: ridge * I + sum of x x'
    target: Vector  # b: sum of x r
    estimate: Vector  # V^-1 b
    root: Matrix  # R, with R'R = V^-1
    observations: Vector  # how many rewards, in an array of one


def new_ridge(arms: int, dimension: int, ridge: float) -> Ridge:
    """Return the regression before the first reward."""
    rules.count("arms", arms)
    dimension = rules.count("dimension", dimension)
    identity, zeros = np.eye(dimension), np.zeros(dimension)
    root = identity / math.sqrt(ridge)
    return Ridge(ridge * identity, zeros, zeros.copy(), root, np.zeros(1))


@kernel
def regress(state: Ridge, context: Vector, reward: float, work: Vector) -> None:
    """Take in one reward (lines 11 and 12 of Algorithm 3)."""
    d = len(context)
    rooted, change = work[:d], work[d : 2 * d]
    times(state.root, context, rooted)
    transpose_times(state.root, rooted, change)  # V^-1 x
    spread = 1.0 + dot(rooted, rooted)  # 1 + x' V^-1 x
    surprise = (reward - dot(context, state.estimate)) / spread
    for i in range(d):
        state.estimate[i] += surprise * change[i]
        state.target[i] += reward * context[i]
    add_outer(state.root, -1.0 / (spread + math.sqrt(spread)), rooted, change)
    add_outer(state.precision, 1.0, context, context)
    state.observations[0] += 1.0


@kernel
def predict(state: Ridge, contexts: Matrix, out: Vector) -> None:
    """Write the estimated mean reward of each arm on offer."""
    times(contexts, state.estimate, out)


@kernel
def half_width(state: Ridge, context: Vector, work: Vector) -> float:
    """Return sqrt(x' V^-1 x)."""
    rooted = work[: len(context)]
    times(state.root, context, rooted)
    return math.sqrt(dot(rooted, rooted))
