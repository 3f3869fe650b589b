"""Slates made again, and compared with their rows place by place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fairx.slates.places import place_weights

from .compact import is_same
from .deciding import Decider
from .decisions import Decision
from .identity import place_id, slate_id
from .offering import Candidates

Made = tuple[list[Decision], bool]


def grouped_by_slate(rows: Iterable[tuple[Any, ...]]) -> Iterable[Made]:
    """Return decisions, a slate as one by its places, and whether anything of each was erased."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(slate_id(row[0]), []).append(row)
    for parts in found.values():
        made = sorted((Decision(*row[:-1]) for row in parts), key=lambda each: each.place or 0)
        yield made, any(row[-1] is not None for row in parts)


def slate_again(decider: Decider, candidates: Candidates, made: list[Decision]) -> str:
    """Say what is wrong with a slate, whose rows are in the order of their places."""
    first = made[0]
    name = slate_id(first.id)
    for place, row in enumerate(made, 1):
        if (row.id, row.place) != (place_id(name, place), place):
            return f"place {place} is not on record"
        if (row.candidates, row.time, row.asked) != (first.candidates, first.time, first.asked):
            return f"place {place} is of another request than the first"
    weights = place_weights([row.weight for row in made])
    found = decider.decide_slate(name, candidates, weights)
    if not is_same(found.exposures.tobytes(), first.probabilities):
        return "its exposures differ from what the snapshot gives"
    for row, position, chance in zip(made, found.positions, found.propensities, strict=True):
        given = candidates.arms[position]
        if (row.position, row.arm) != (position, given):
            return f"its arm at place {row.place} is {row.arm}, but the snapshot gives {given}"
        if row.propensity != chance:
            return f"its propensity at place {row.place} differs from what the snapshot gives"
        if row.place != 1 and not _has_own_context(row, candidates):
            return f"its context at place {row.place} is not that of its arm"
    return ""


def _has_own_context(row: Decision, candidates: Candidates) -> bool:
    """Tell whether a place after the first has the context of its arm alone."""
    return np.array_equal(
        np.frombuffer(row.contexts or b""), candidates.contexts[row.position].ravel()
    )
