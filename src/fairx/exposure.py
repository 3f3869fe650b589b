"""Exposure in proportion to merit (Section 3 of the paper)."""

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


def _passed_in_32_bits(probabilities: Vector, uniform: float) -> int:
    """Return the same, counted in a number that takes one register of a GPU."""
    position, reached = np.int32(0), 0.0
    for i in range(len(probabilities)):
        reached += probabilities[i]
        position = np.int32(position + np.int32(reached <= uniform))
    return int(position)


@kernel_with(_passed_in_32_bits)
def passed(probabilities: Vector, uniform: float) -> int:
    """Return how many sums of the first ones are not above a number."""
    position, reached = 0, 0.0
    for i in range(len(probabilities)):
        reached += probabilities[i]
        position += int(reached <= uniform)
    return position


@kernel
def choose(probabilities: Vector, uniform: float) -> int:
    """Return the position that a uniform number from 0 to 1 falls on."""
    position = passed(probabilities, uniform)
    if position == len(probabilities):  # the sum may fall short of 1 by rounding
        position = last_with_a_chance(probabilities)
    return position


@kernel
def choose_by_sums(probabilities: Vector, sums: Vector, uniform: float) -> int:
    """Return what `choose` does, to the last bit, where the sums of the first ones are known.

    Examples
    --------
    >>> chances = np.array([0.5, 0.0, 0.5])
    >>> [choose_by_sums(chances, np.cumsum(chances), u) for u in (0.0, 0.5, 0.99)]
    [0, 2, 2]
    """
    position, end = 0, len(sums)
    while position < end:
        middle = (position + end) // 2
        if sums[middle] <= uniform:
            position = middle + 1
        else:
            end = middle
    return position if position < len(sums) else last_with_a_chance(probabilities)


@kernel
def last_with_a_chance(probabilities: Vector) -> int:
    """Return the last position that has a chance, or the first one if none has."""
    position = 0
    for i in range(len(probabilities)):
        position = i if probabilities[i] > 0.0 else position
    return position


@kernel
def put_all_on(chosen: int, out: Vector) -> None:
    """Give one position all the exposure."""
    meet()
    for position in turns(len(out)):
        out[position] = 1.0 if position == chosen else 0.0
    meet()


@kernel
def highest(values: Vector) -> int:
    """Return the position of the largest value, the lowest on ties."""
    best = 0
    for position in range(1, len(values)):
        if values[position] > values[best]:
            best = position
    return best
