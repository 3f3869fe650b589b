"""The rows of a draw: a candidate each, or, of many, those with little exposure in rows that are alike."""

from __future__ import annotations

import numpy as np

from fairx.compiled import kernel
from fairx.numerics.streams import unit, word
from fairx.types import Vector

from .places import Page, few_rows

TIES = 1 << 40  # where the numbers begin that order ties; those of swaps begin at 0
LINES = 2 << 40  # and those of the line that the others are drawn from


@kernel
def arrange(page: Page, exposures: Vector, places: int, bits: np.uint64) -> int:
    """Write the candidate of each row, those with the most exposure first, and what the rows want.

    Up to a number of candidates each has a row. Above it those of little exposure share what is left
    of all exposure in rows that want the same, and each of these rows has one of them in this draw.
    Returns how many rows there are.
    """
    n = len(exposures)
    if n <= len(page.order):
        rows = alone = n
        for i in range(n):
            page.found[i] = i
    else:
        rows = few_rows(places)
        alone = part_from_others(page, exposures, rows)
    sort_found(page, exposures, alone)
    page.others[0] = alone
    for row in range(alone, rows):
        page.wants[row] = page.others[1]
    if rows > alone:
        draw_others(page, exposures, alone, rows, word(bits, LINES))
    shuffle_ties(page, rows, bits)
    return rows


@kernel
def part_from_others(page: Page, exposures: Vector, rows: int) -> int:
    """Find the candidates with more than an equal part of what is left to the rows of the others.

    Each that is found takes more than that part, which falls: another may have more than it then.
    """
    alone, before, part = 0, -1, 0.0
    while alone != before:
        before, left = alone, 0.0
        for i in range(len(exposures)):
            left += exposures[i] if alone == 0 or exposures[i] <= part else 0.0
        part, alone = left / (rows - alone), 0
        for i in range(len(exposures)):
            if exposures[i] > part and alone < rows - 1:
                page.found[alone] = i
                alone += 1
    page.others[1] = part
    return alone


@kernel
def sort_found(page: Page, exposures: Vector, count: int) -> None:
    """Put the candidates found in order: each pair tells which of the two is before the other.

    Up to a hundred or so this is faster than sorting: the processor has nothing to guess.
    """
    values, ranks = page.has, page.places  # free until swaps begin
    for i in range(count):
        value, before = exposures[page.found[i]], 0
        for j in range(i):
            first = int(values[j] >= value)
            before += first
            ranks[j] += 1 - first
        values[i], ranks[i] = value, before
    for i in range(count):
        page.order[ranks[i]], page.wants[ranks[i]] = page.found[i], values[i]


@kernel
def draw_others(page: Page, exposures: Vector, alone: int, rows: int, bits: np.uint64) -> None:
    """Draw a candidate for each row of the others, each as likely as its exposure over that of a row.

    Laid end to end they are a line of as many parts as rows; the points at one random distance into each
    part are drawn (Madow's systematic sampling). None is longer than a part, so none is drawn twice.
    The order on the line, which is shuffled, decides only who meets whom.
    """
    others, part = list_others(page, exposures), page.others[1]
    length = part if part > 0.0 else others / (rows - alone)
    row, reached, point = alone, 0.0, unit(word(bits, 0)) * length
    for i in range(others):
        other = i + int(unit(word(bits, i + 1)) * (others - i))
        page.line[i], page.line[other] = page.line[other], page.line[i]
        reached += exposures[page.line[i]] if part > 0.0 else 1.0
        if reached > point and row < rows:
            page.order[row] = page.line[i]
            row += 1
            point += length
    fill_up(page, exposures, alone, row, rows)


@kernel
def list_others(page: Page, exposures: Vector) -> int:
    """List the candidates that have no row of their own; return how many."""
    count = 0
    for i in range(len(exposures)):
        if exposures[i] <= page.others[1]:
            page.line[count] = i
            count += 1
    return count


@kernel
def fill_up(page: Page, exposures: Vector, alone: int, row: int, rows: int) -> None:
    """Give rows that rounding left empty the first of the others that have none."""
    position = 0
    while row < rows:
        free = exposures[position] <= page.others[1]
        for i in range(alone, row):
            free = free and page.order[i] != position
        if free and (exposures[position] > 0.0 or page.others[1] == 0.0):
            page.order[row] = position
            row += 1
        position += 1


@kernel
def shuffle_ties(page: Page, rows: int, bits: np.uint64) -> None:
    """Put the candidates of rows that want the same in any order, each as likely as another."""
    start = 0
    while start < rows:
        stop = last_alike(page.wants, start, rows)
        for i in range(start, stop - 1):
            other = i + int(unit(word(bits, TIES + i)) * (stop - i))
            page.order[i], page.order[other] = page.order[other], page.order[i]
        start = stop


@kernel
def pool_ties(page: Page, rows: int) -> None:
    """Make rows that want the same as likely at each place: their candidates are shuffled."""
    start = 0
    while start < rows:
        stop = last_alike(page.wants, start, rows)
        for place in range(page.table.shape[1] if stop > start + 1 else 0):
            total = 0.0
            for row in range(start, stop):
                total += page.table[row, place]
            for row in range(start, stop):
                page.table[row, place] = total / (stop - start)
        start = stop


@kernel
def last_alike(values: Vector, start: int, stop: int) -> int:
    """Return the first position after `start` that has another value."""
    found = start + 1
    while found < stop and values[found] == values[start]:
        found += 1
    return found


@kernel
def part_of(page: Page, exposures: Vector, candidate: int, row: int) -> float:
    """Return how likely a candidate is drawn for one of the rows of the others; 1 for one with a row."""
    alone, part = int(page.others[0]), page.others[1]
    if row < alone:
        return 1.0
    if part > 0.0:
        return min(1.0, exposures[candidate] / part)  # type: ignore[no-any-return]
    rows = few_rows(min(len(page.weights), len(exposures)))
    return float(rows - alone) / (len(exposures) - alone)
