"""An arm drawn from probabilities: the sums are taken in a written order, so that any machine draws the same."""

from __future__ import annotations

import numpy as np

from fairx.compiled import kernel, kernel_with, meet, turns
from fairx.types import Vector


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
