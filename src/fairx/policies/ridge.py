"""Ridge regression kept up to date: what policies with contexts learn from.

The inverse of the precision V is kept as W'DW, with W unit lower triangular and D a diagonal
of positive scales, and both follow each new context by a rank-one change (Bierman's UD filter).
The product cannot lose its positive definiteness, W and D depend on the rewards alone and not on
their order, a draw from N(0, V^-1) is W'D^(1/2) times normal numbers, and no update costs more
than O(d^2).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, kernel_with, meet, turns
from fairx.numerics.linear_algebra import (
    add_outer,
    dot,
    lane_product,
    times,
    triangle_times,
)
from fairx.types import Matrix, Vector


class Ridge(NamedTuple):
    """Sums over all rewards, and what follows from them."""

    precision: Matrix  # V: ridge * I + sum of x x'
    target: Vector  # b: sum of x r
    estimate: Vector  # V^-1 b
    factor: Matrix  # W
    scales: Vector  # the diagonal of D
    observations: Vector  # how many rewards, in an array of one


def new_ridge(arms: int, dimension: int, ridge: float) -> Ridge:
    """Return the regression before the first reward."""
    rules.count("arms", arms)
    one, zeros = np.eye(rules.count("dimension", dimension)), np.zeros(dimension)
    scales = np.full(dimension, 1.0 / ridge)
    return Ridge(ridge * one, zeros, zeros.copy(), one, scales, np.zeros(1))


@kernel
def regress(state: Ridge, context: Vector, reward: float, work: Vector) -> None:
    """Let the regression learn from one reward (lines 11 and 12 of Algorithm 3)."""
    d = len(context)
    turned, gain = work[:d], work[d : 2 * d]
    triangle_times(state.factor, context, turned)
    spread = refactor(state, turned, gain)  # gain is now V^-1 x
    surprise = (reward - dot(context, state.estimate)) / spread
    meet()
    for i in turns(d):
        state.estimate[i] += surprise * gain[i]
    for i in turns(len(state.target)):
        state.target[i] += reward * context[i]
    add_outer(state.precision, 1.0, context, context)
    state.observations[0] += 1.0


def refactor_columns(state: Ridge, turned: Vector, gain: Vector) -> float:
    """Do as `refactor`, each lane with columns of its own."""
    d = len(turned)
    last = d - 1
    meet()
    for j in turns(d):
        gain[j] = turned[j] * (state.scales[j] * turned[j])
    meet()
    for _ in turns(1):
        total = 1.0
        for j in range(d):
            gain[j], total = total, total + gain[j]
    meet()
    spread: float = gain[last] + turned[last] * (state.scales[last] * turned[last])
    meet()
    for j in turns(d):
        before, scaled = gain[j], state.scales[j] * turned[j]
        state.scales[j] *= before / (before + turned[j] * scaled)
        gain[j], turned[j] = scaled, -turned[j] / before
    meet()
    for i in turns(d):
        total = gain[i]
        for j in range(i + 1, d):
            old = state.factor[j, i]
            state.factor[j, i] = old + turned[j] * total
            total += old * gain[j]
        state.factor[i, i] = total  # other lanes still read `gain`
    meet()
    for i in turns(d):
        gain[i], state.factor[i, i] = state.factor[i, i], 1.0
    meet()
    return spread


@kernel_with(refactor_columns)
def refactor(state: Ridge, turned: Vector, gain: Vector) -> float:
    """Change W and D for a new context x, given W x, which is lost; write V^-1 x and return 1 + x' V^-1 x."""
    spread = 1.0
    for j in range(len(turned)):
        scaled = state.scales[j] * turned[j]
        before = spread
        spread += turned[j] * scaled
        step = -turned[j] / before
        state.scales[j] *= before / spread
        row = state.factor[j]
        for i in range(j):
            old = row[i]
            row[i] = old + step * gain[i]
            gain[i] += old * scaled
        gain[j] = scaled
    return spread


@kernel
def roots_of_scales(state: Ridge, out: Vector) -> None:
    """Write D^(1/2)."""
    for i in turns(len(out)):
        out[i] = math.sqrt(state.scales[i])
    meet()


def whiten_together(
    state: Ridge, roots: Vector, contexts: Matrix, white: Matrix, sizes: Vector
) -> None:
    """Do as `whiten`, each lane with some rows of W, of which each number is read once for four contexts.

    Sums are taken in another order, and may differ in the last bits.
    """
    d, whole = len(roots), len(sizes) // 4 * 4
    meet()
    for i in turns(d):
        for arm in range(0, whole, 4):
            first = second = third = fourth = 0.0
            for j in range(i + 1):
                weight = state.factor[i, j]
                first += weight * contexts[arm, j]
                second += weight * contexts[arm + 1, j]
                third += weight * contexts[arm + 2, j]
                fourth += weight * contexts[arm + 3, j]
            white[arm, i], white[arm + 1, i] = first * roots[i], second * roots[i]
            white[arm + 2, i], white[arm + 3, i] = third * roots[i], fourth * roots[i]
        for arm in range(whole, len(sizes)):
            total = 0.0
            for j in range(i + 1):
                total += state.factor[i, j] * contexts[arm, j]
            white[arm, i] = total * roots[i]
    meet()
    for arm in turns(len(sizes)):
        sizes[arm] = math.sqrt(lane_product(white[arm], white[arm], d))
    meet()


@kernel_with(whiten_together)
def whiten(state: Ridge, roots: Vector, contexts: Matrix, white: Matrix, sizes: Vector) -> None:
    """Write D^(1/2) W x of each context to the first columns of `white`, and its length, sqrt(x' V^-1 x)."""
    d = len(roots)
    for arm in range(len(sizes)):
        row = white[arm, :d]
        triangle_times(state.factor, contexts[arm], row)
        for i in range(d):
            row[i] *= roots[i]
        sizes[arm] = math.sqrt(dot(row, row))


@kernel
def predict(state: Ridge, contexts: Matrix, out: Vector) -> None:
    """Write the estimated mean reward of each arm on offer."""
    times(contexts, state.estimate, out)
