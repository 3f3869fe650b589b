"""Many candidates in few rows: those with little exposure share one, at random."""

from __future__ import annotations

import numpy as np

from fairx.compiled import kernel
from fairx.numerics.streams import unit, word
from fairx.types import Indices, Vector

from .places import Page

HALF_WORD, LOW_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
SCATTER = 1 << 40  # where the numbers begin that move candidates; those of swaps begin at 0
ORDERS = 2 << 40  # and those that begin an order


@kernel
def arrange(values: Vector, count: int, bits: np.uint64, order: Indices) -> None:
    """Write positions, the `count` largest values first and in order; ties and others at random.

    Positions are visited by steps of a random odd length on a circle of 2^m. Of any two, each is as
    likely to come first.
    """
    size = 1
    while size < len(values):
        size *= 2
    step = (np.int64(bits >> HALF_WORD) | 1) & (size - 1)
    position, kept, others = np.int64(bits & LOW_HALF) & (size - 1), 0, count
    for _ in range(size):
        if position < len(values):
            if kept == count and values[position] <= values[order[count - 1]]:
                order[others] = position
                others += 1
            else:
                if kept == count:
                    order[others] = order[count - 1]
                    others += 1
                    kept -= 1
                insert(values, position, kept, order)
                kept += 1
        position = (position + step) & (size - 1)


@kernel
def insert(values: Vector, position: int | np.int64, kept: int, order: Indices) -> None:
    """Put a position among the `kept` ones, whose values decrease."""
    while kept > 0 and values[order[kept - 1]] < values[position]:
        order[kept] = order[kept - 1]
        kept -= 1
    order[kept] = position


@kernel
def sort_all(values: Vector, bits: np.uint64, turns: Indices, order: Indices) -> None:
    """Write all positions, the largest value first, ties at random: each counts those before it.

    Up to a hundred or so this is faster than sorting: the processor has nothing to guess.
    """
    size = 1
    while size < len(values):
        size *= 2
    step, turn = (np.int64(bits >> HALF_WORD) | 1) & (size - 1), np.int64(bits & LOW_HALF)
    for position in range(len(values)):
        turn = (turn + step) & (size - 1)
        turns[position] = turn
    for position in range(len(values)):
        value, own, before = values[position], turns[position], 0
        for other in range(len(values)):
            tie = (values[other] == value) & (turns[other] < own)
            before += int((values[other] > value) | tie)
        order[before] = position


@kernel
def bundle(page: Page, exposures: Vector, places: int, bits: np.uint64) -> int:
    """Write the rows of a draw, those with the most exposure first; return how many.

    Up to a number of candidates each is a row. Above it those of at most the mean exposure c of a place
    that is left to them are bundled at random, up to c together. The rows can have their exposures,
    as the candidates could: at most c each, m of them have no more than m of the places left.
    """
    n = len(exposures)
    if n <= len(page.rows):
        sort_all(exposures, word(bits, ORDERS), page.rows, page.order)
        for row in range(n):
            page.bundles[row] = page.rows[row] = row
            page.wants[row] = exposures[page.order[row]]
        page.bundles[n] = n
        return n
    arrange(exposures, places, word(bits, ORDERS), page.order)
    alone, left = alone_and_left(page, exposures, places)
    scatter(page.order[:n], alone, places, bits)
    found = fill_bundles(page, exposures, places, alone, left)
    arrange(page.sums[:found], places, word(bits, ORDERS + 1), page.rows)
    for row in range(found):
        page.wants[row] = page.sums[page.rows[row]]
    return found


@kernel
def alone_and_left(page: Page, exposures: Vector, places: int) -> tuple[int, float]:
    """Return how many candidates are not bundled, and the exposure of all others."""
    left = 0.0
    for i in range(places - 1, len(exposures)):
        left += exposures[page.order[i]]
    alone = places - 1
    while alone > 0:
        more = exposures[page.order[alone - 1]]
        if more * (places - alone + 1) > left + more:
            break
        alone, left = alone - 1, left + more
    return alone, left


@kernel
def scatter(order: Indices, first: int, stop: int, bits: np.uint64) -> None:
    """Move candidates to places at random among those that follow them: the largest are neighbours."""
    for i in range(first, stop):
        other = i + int(unit(word(bits, SCATTER + i)) * (len(order) - i))
        order[i], order[other] = order[other], order[i]


@kernel
def fill_bundles(page: Page, exposures: Vector, places: int, alone: int, left: float) -> int:
    """Bundle candidates in their order, until the next one would be too much; return how many.

    No bundle has so many that places would be left without one: there are at least as many bundles.
    """
    n, most, found = len(exposures), left / (places - alone), 0
    crowd = (n - alone) // (places - alone)
    for i in range(n):
        exposure = exposures[page.order[i]]
        full = i - page.bundles[found - 1] == crowd or page.sums[found - 1] + exposure > most
        if i <= alone or (full and found < len(page.rows)):
            page.bundles[found], page.sums[found] = i, exposure
            found += 1
        else:
            page.sums[found - 1] += exposure
    page.bundles[found] = n
    return found
