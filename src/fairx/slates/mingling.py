"""Rows that want nearly the same: they are kept apart for the draw, and then they mingle.

Rows that want x_i, with mean m, are drawn as if they wanted m + r (x_i - m): as far apart as there is
room for. Then their places are shuffled with the chance 1 - 1 / r, which brings what each has back to x_i.
What tells one from another is 1 / r of what it was: nothing, in the limit of rows that want the same.
"""

from __future__ import annotations

import numpy as np

from fairx.compiled import kernel
from fairx.numerics.streams import unit, word
from fairx.types import Vector

from .places import Page

MINGLES = 4 << 40  # where the numbers begin that shuffle them
NEAR = (1e-5, 1e-3, 3e-2)  # how near, in parts of the first weight: groups, and groups of groups
SAME = 2e-14  # so near is what only rounding tells apart
ROOM = 0.9  # how much of the room is used: rounding has the rest
WORTH = 2.0  # the least stretch that is


@kernel
def part_near(page: Page, rows: int, places: int) -> int:
    """Move apart what rows want that want nearly the same; return how many groups there are."""
    groups = 0
    for level in range(len(NEAR)):
        near = page.weights[0] * NEAR[level]
        start, reached, slack = 0, 0, 0.0
        while start < rows:
            stop = start + 1
            while stop < rows and page.wants[stop - 1] - page.wants[stop] <= near:
                stop += 1
            if page.wants[start] > page.wants[stop - 1]:
                slack = room_up_to(page, reached, start, places, slack)
                after = room_up_to(page, start, stop, places, slack)
                groups = part_group(page, start, stop, rows, places, slack, groups)
                reached, slack = stop, after
            start = stop
    return groups


@kernel
def room_at(page: Page, row: int, places: int) -> float:
    """Return how much more the place of a row gives than the row wants."""
    return (page.weights[row] if row < places else 0.0) - page.wants[row]  # type: ignore[no-any-return]


@kernel
def room_up_to(page: Page, start: int, stop: int, places: int, room: float) -> float:
    """Return the room of all rows before `stop`, given that before `start`."""
    for row in range(start, stop):
        room += room_at(page, row, places)
    return room


@kernel
def part_group(
    page: Page, start: int, stop: int, rows: int, places: int, slack: float, groups: int
) -> int:
    """Move a group apart, if there is room; return how many groups there are then."""
    wants, total = page.wants, 0.0
    for row in range(start, stop):
        total += wants[row]
    mean = total / (stop - start)
    stretch = 1.0 + ROOM * (room_of(page, start, stop, rows, places, slack, mean) - 1.0)
    if wants[start] - wants[stop - 1] <= SAME * page.weights[0]:
        page.keeps[groups], stretch = 0.0, 0.0
    elif stretch < WORTH:
        return groups
    else:
        page.keeps[groups] = 1.0 / stretch
    stretch_wants(wants, start, stop, mean, stretch, total)
    page.near_from[groups], page.near_to[groups] = start, stop
    return groups + 1


@kernel
def room_of(
    page: Page, start: int, stop: int, rows: int, places: int, slack: float, mean: float
) -> float:
    """Return by how much a group can be stretched: its neighbours, and sums of weights, are in the way."""
    wants, reached = page.wants, 0.0
    below = wants[stop - 1] - wants[stop] if stop < rows else 2.0 * wants[stop - 1]
    room = 1.0 + 0.5 * below / (mean - wants[stop - 1])
    if start > 0:
        room = min(room, 1.0 + 0.5 * (wants[start - 1] - wants[start]) / (wants[start] - mean))
    for row in range(start, stop - 1):
        reached += wants[row] - mean
        slack += (page.weights[row] if row < places else 0.0) - mean
        room = min(room, slack / reached)
    return room  # type: ignore[no-any-return]


@kernel
def stretch_wants(
    wants: Vector, start: int, stop: int, mean: float, stretch: float, total: float
) -> None:
    """Stretch what a group wants about its mean; the sum stays, whatever rounding does."""
    found = 0.0
    for row in range(start, stop):
        wants[row] = mean + stretch * (wants[row] - mean)
        found += wants[row]
    for row in range(start, stop):
        wants[row] -= (found - total) / (stop - start)


@kernel
def mingle(page: Page, groups: int, bits: np.uint64) -> None:
    """Shuffle the places of each group with its chance, the widest groups first."""
    for i in range(groups):
        group = groups - 1 - i
        start, stop, keep = page.near_from[group], page.near_to[group], page.keeps[group]
        mingle_rows(page, start, stop, keep)
        first = MINGLES + (group << 20)
        if unit(word(bits, first)) >= keep:
            for row in range(start, stop - 1):
                other = row + int(unit(word(bits, first + 1 + row)) * (stop - row))
                page.places[row], page.places[other] = page.places[other], page.places[row]


@kernel
def mingle_rows(page: Page, start: int, stop: int, keep: float) -> None:
    """Move what is known of each row of a group towards their average."""
    for place in range(page.table.shape[1]):
        total = 0.0
        for row in range(start, stop):
            total += page.table[row, place]
        average = (1.0 - keep) * total / (stop - start)
        for row in range(start, stop):
            page.table[row, place] = keep * page.table[row, place] + average
