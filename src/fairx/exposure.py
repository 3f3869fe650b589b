"""Exposure in proportion to merit (Section 3 of the paper)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import kernel
from fairx.merit import Merit
from fairx.numerics.elementary import exp
from fairx.types import Vector


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


@kernel
def weigh(merit: Merit, means: Vector, out: Vector) -> float:
    """Write the merits of `means`, the largest of them as 1; return their sum."""
    top = -math.inf
    for slot in range(len(out)):
        out[slot] = merit.log(means[slot])
        top = max(top, out[slot])
    if top == -math.inf:  # no arm has merit: none is to be preferred
        top = 0.0
        for slot in range(len(out)):
            out[slot] = 0.0
    for slot in range(len(out)):
        out[slot] = exp(out[slot] - top)
    total = 0.0
    for slot in range(len(out)):
        total += out[slot]
    return total


@kernel
def share(merit: Merit, means: Vector, out: Vector) -> None:
    """Write the fair probabilities of `means` to `out`, which may be the same array."""
    each = 1.0 / weigh(merit, means, out)
    for slot in range(len(out)):
        out[slot] *= each


@kernel
def value(merit: Merit, means: Vector, work: Vector) -> float:
    """Return the expected reward that `means` promise under their own fair probabilities."""
    total, weighted = weigh(merit, means, work), 0.0
    for slot in range(len(means)):
        weighted += work[slot] * means[slot]
    return weighted / total


@kernel
def uphill(merit: Merit, means: Vector, out: Vector) -> float:
    """Write the gradient of `value` to `out`, and return the value."""
    total, weighted = weigh(merit, means, out), 0.0
    for slot in range(len(out)):
        weighted += out[slot] * means[slot]
    each, expected = 1.0 / total, weighted / total
    for slot in range(len(out)):
        slope = merit.log_slope(means[slot])
        out[slot] *= each * (1.0 + slope * (means[slot] - expected))
    return expected


@kernel
def choose(probabilities: Vector, uniform: float) -> int:
    """Return the position that a uniform number from 0 to 1 falls on."""
    slot, reached = 0, 0.0
    for i in range(len(probabilities)):
        reached += probabilities[i]
        slot += int(reached <= uniform)
    while slot > 0 and (slot == len(probabilities) or probabilities[slot] == 0.0):
        slot -= 1  # the sum fell short of 1 by rounding: take the last arm that has a chance
    return slot


@kernel
def put_all_on(chosen: int, out: Vector) -> None:
    """Give one position all the exposure."""
    for slot in range(len(out)):
        out[slot] = 0.0
    out[chosen] = 1.0


@kernel
def highest(values: Vector) -> int:
    """Return the position of the largest value, the lowest on ties."""
    best = 0
    for slot in range(1, len(values)):
        if values[slot] > values[best]:
            best = slot
    return best
