"""Rankings with given expected exposures: rows swap their places, independently."""

from __future__ import annotations

import math

import numpy as np

from fairx.compiled import kernel
from fairx.numerics.elementary import log
from fairx.numerics.streams import unit, word
from fairx.types import Vector

from .places import LANES, Page
from .target import TINY, expose, pool


@kernel
def rank(page: Page, rows: int, places: int, bits: np.uint64) -> None:
    """Write the place of each row of one draw, and how likely each row is at each place.

    Row i starts at place i. In a first stage those that start on a place are fair to each other, as
    if alone. In a second the others take from them.
    """
    set_out(page, rows, places)
    logs = page.logs[:places]
    for i in range(places):
        part = page.wants[i] / page.weights[0]  # weights may be in any unit
        logs[i] = log(part) if part > TINY else -math.inf
    expose(logs, page, pool(logs, page), page.first_wants[:places])
    drawn = exchange(page, page.first_wants[:places], 0, bits)
    exchange(page, page.wants[:rows], drawn, bits)


@kernel
def set_out(page: Page, rows: int, places: int) -> None:
    """Let row i start at place i."""
    for row in range(rows):
        page.places[row], page.has[row] = row, page.weights[row] if row < places else 0.0
        for place in range(page.table.shape[1]):
            page.table[row, place] = 1.0 if row == place else 0.0


@kernel
def exchange(page: Page, wants: Vector, drawn: int, bits: np.uint64) -> int:
    """Give each row its wanted exposure; return how many random numbers were drawn.

    A row that lacks exposure takes from all before it that have too much, in proportion, in alternating
    order: no pair that can meet is kept apart.
    """
    rich, forward = 0, False
    for row in range(len(wants)):
        if page.has[row] > wants[row]:
            page.rich[rich] = row
            rich += 1
        elif rich > 0:
            forward = not forward
            drawn = take(page, wants, row, rich, forward, drawn, bits)
    return drawn


@kernel
def take(
    page: Page, wants: Vector, row: int, rich: int, forward: bool, drawn: int, bits: np.uint64
) -> int:
    """Let a row take what it lacks, by a swap with each rich one; return how many were drawn.

    A swap with chance amount / gap moves that amount. It is at most 1/2: what the rich one has
    left is no less than it wants, which is no less than the other wants, and than it has then.
    """
    surplus = 0.0
    for i in range(rich):
        surplus += page.has[page.rich[i]] - wants[page.rich[i]]
    part = min(1.0, (wants[row] - page.has[row]) / surplus) if surplus > 0.0 else 0.0
    for i in range(rich):
        other = page.rich[i if forward else rich - 1 - i]
        amount, gap = part * (page.has[other] - wants[other]), page.has[other] - page.has[row]
        if amount > 0.0 and gap > 0.0:
            swap(page, other, row, min(0.5, amount / gap), unit(word(bits, drawn)))
            page.has[other] -= amount
            page.has[row] += amount
            drawn += 1
    return drawn


@kernel
def swap(page: Page, row: int, other: int, chance: float, uniform: float) -> None:
    """Swap the places of two rows with some chance: it mixes what is known of them."""
    here, there, swapped = page.places[row], page.places[other], uniform < chance
    page.places[row] = there if swapped else here
    page.places[other] = here if swapped else there
    mix_rows(page.table[row], page.table[other], chance)


@kernel
def mix_rows(first: Vector, second: Vector, chance: float) -> None:
    """Move each of two rows towards the other, by four numbers at a time: all read before one is written."""
    for i in range(0, len(first), LANES):
        a, b, c, d = first[i], first[i + 1], first[i + 2], first[i + 3]
        e, f, g, h = second[i], second[i + 1], second[i + 2], second[i + 3]
        p, q, r, s = chance * (e - a), chance * (f - b), chance * (g - c), chance * (h - d)
        first[i], first[i + 1], first[i + 2], first[i + 3] = a + p, b + q, c + r, d + s
        second[i], second[i + 1], second[i + 2], second[i + 3] = e - p, f - q, g - r, h - s
