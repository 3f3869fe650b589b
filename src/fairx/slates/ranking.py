"""The highest of some numbers, in order: who comes first on a page that is ranked."""

from __future__ import annotations

import math

from fairx.compiled import kernel
from fairx.types import Indices, Vector

from .places import Page


@kernel
def pick_top(values: Vector, top: Indices, count: int) -> None:
    """Write the positions of the `count` largest values, in order; on ties the lowest comes first."""
    last = -math.inf
    for position in range(len(values)):
        found = values[position]
        i = min(position, count - 1)
        if i == position or found > last:
            while i > 0 and values[top[i - 1]] < found:
                top[i] = top[i - 1]
                i -= 1
            top[i] = position
            last = values[top[count - 1]] if position >= count - 1 else last


@kernel
def rank_by_score(page: Page, out: Vector) -> float:
    """Write the weights of the places that scores reach, ties to the lowest; return their sum."""
    places, total = min(len(page.weights), len(out)), 0.0
    pick_top(out, page.top, places)
    for position in range(len(out)):
        out[position] = 0.0
    for i in range(places):
        out[page.top[i]] = page.weights[i]
        total += page.weights[i]
    return total
