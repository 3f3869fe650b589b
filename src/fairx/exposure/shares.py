"""Shares in proportion to merit, and what is made of them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import entry, is_exact, kernel, kernel_with, meet, turns
from fairx.merit import Merit
from fairx.numerics.elementary import exp_up_to_709, quotient
from fairx.types import Matrix, Vector


def fair_probabilities(merit: Merit, means: npt.ArrayLike) -> Vector:
    """Return the optimal fair policy (Theorem 1): exposure in proportion to merit.

    Examples
    --------
    >>> from fairx import Exponential
    >>> fair_probabilities(Exponential(4), [0.1, 0.5, 0.5]).round(3)
    array([0.092, 0.454, 0.454])
    """
    found = rules.array("means", means, (None,))
    out = np.empty(rules.count("the number of means", found.size))
    share(merit, found, out)
    return out


def fair_rows(merit: Merit, means: Matrix) -> Matrix:
    """Return the fair probabilities of each row of means.

    Examples
    --------
    >>> from fairx import Exponential
    >>> fair_rows(Exponential(4), np.array([[0.1, 0.5], [0.5, 0.5]])).round(3)
    array([[0.168, 0.832],
           [0.5  , 0.5  ]])
    """
    out = np.empty(means.shape)
    run, low = share_rows.ready((merit,), lambda run, low: run(*low, means[:0], out[:0]))
    run(*low, np.ascontiguousarray(means), out)
    return out


@entry
def share_rows(merit, means, out):  # type: ignore[no-untyped-def]
    """Write the fair probabilities of each row."""
    for row in range(len(means)):
        share(merit, means[row], out[row])


def _largest_of_four(values: Vector) -> float:
    """Return the largest of the largest of each fourth: none waits for the one before."""
    a = b = c = d = -math.inf
    whole = len(values) // 4 * 4
    for i in range(0, whole, 4):
        a = larger(a, values[i])
        b = larger(b, values[i + 1])
        c = larger(c, values[i + 2])
        d = larger(d, values[i + 3])
    for i in range(whole, len(values)):
        a = larger(a, values[i])
    return larger(larger(a, b), larger(c, d))


@kernel
def larger(one: float, other: float) -> float:
    """Return the larger one; `max` takes a GPU three times as long, for it also looks for what is no number."""
    return one if one > other else other  # noqa: FURB136 - `max` is what it is not


@kernel_with(_largest_of_four)
def largest(values: Vector) -> float:
    """Return the largest value."""
    found = -math.inf
    for i in range(len(values)):
        found = max(found, values[i])
    return found


def _total_of_four(values: Vector) -> float:
    """Return the sum of the sums of each fourth, which may differ in the last bit, or, where that matters, the sum."""
    a = b = c = d = 0.0
    whole = 0 if is_exact() else len(values) // 4 * 4
    for i in range(0, whole, 4):
        a, b, c, d = a + values[i], b + values[i + 1], c + values[i + 2], d + values[i + 3]
    for i in range(whole, len(values)):
        a += values[i]
    return (a + b) + (c + d)


@kernel_with(_total_of_four)
def total(values: Vector) -> float:
    """Return the sum of the values, one after the other."""
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found


@kernel
def weigh(merit: Merit, means: Vector, out: Vector) -> float:
    """Write the merits of `means`, the largest of them as 1; return their sum."""
    for position in turns(len(out)):
        out[position] = merit.log(means[position])
    meet()
    top = largest(out)
    meet()
    if top == -math.inf:  # no arm has merit: none is to be preferred
        top = 0.0
        for position in turns(len(out)):
            out[position] = 0.0
    for position in turns(len(out)):
        out[position] = exp_up_to_709(out[position] - top)
    meet()
    return total(out)


@kernel
def share(merit: Merit, means: Vector, out: Vector) -> None:
    """Write the fair probabilities of `means` to `out`, which may be the same array."""
    each = quotient(1.0, weigh(merit, means, out))  # of a sum from 1 to as many as there are
    meet()
    for position in turns(len(out)):
        out[position] *= each
    meet()


@kernel
def mix(out: Vector, scale: float, rest: float) -> None:
    """Scale `out` and share out `rest` equally: exploration at random, or a floor for each."""
    for position in turns(len(out)):
        out[position] = scale * out[position] + rest / len(out)
    meet()


@kernel
def value(merit: Merit, means: Vector, work: Vector) -> float:
    """Return the expected reward that `means` promise under their own fair probabilities."""
    whole, weighted = weigh(merit, means, work), 0.0
    for position in range(len(means)):
        weighted += work[position] * means[position]
    return weighted / whole


@kernel
def uphill(merit: Merit, means: Vector, out: Vector) -> float:
    """Write the gradient of `value` to `out`, and return the value."""
    whole, weighted = weigh(merit, means, out), 0.0
    for position in range(len(out)):
        weighted += out[position] * means[position]
    each, expected = 1.0 / whole, weighted / whole
    meet()
    for position in turns(len(out)):
        slope = merit.log_slope(means[position])
        out[position] *= each * (1.0 + slope * (means[position] - expected))
    meet()
    return expected
