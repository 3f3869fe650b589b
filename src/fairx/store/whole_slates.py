"""Slates all of whose places are mature: an audit takes a slate whole, or not yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .audited import audited
from .database import Database
from .identity import LETTERS, slate_id
from .snapshots import ServedExperiment

CHUNK = 5_000  # rows in memory at once
# A place is the last one if there is none after it: ids are looked up, nothing is searched for.
PLACES = f"""
SELECT m.number, d.id, COALESCE(d.place, 1),
  CASE WHEN EXISTS (SELECT 1 FROM decisions n
    WHERE n.id = substr(d.id, 1, {LETTERS}) || '.' || CAST(d.place + 1 AS TEXT)) THEN 0 ELSE 1 END,
  CASE WHEN {{audited}} THEN 1 ELSE 0 END
FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND m.number > ? ORDER BY m.number LIMIT ?
"""


class Part(NamedTuple):
    """What is mature of a slate."""

    numbers: tuple[int, ...] = ()  # of its places, in the order in which they became mature
    places: int = 0  # how many it has, once its last is mature
    counts: bool = False  # whether an audit counts one of them

    def with_place(self, number: int, place: int, is_last: int, counts: int) -> Part:
        """Return it with one place more."""
        places = place if is_last else self.places
        return Part((*self.numbers, number), places, self.counts or bool(counts))


class WholeSlates:
    """Finds slates as they become whole, each once; a decision that is no slate has one place."""

    def __init__(self) -> None:
        self._last, self._parts = 0, dict[str, Part]()

    def batches(self, database: Database, experiment: ServedExperiment) -> Iterator[list[int]]:
        """Yield the numbers, in `matured`, of all places of slates that have become whole.

        Of those of which an audit counts a place: what was not shown may be one place of many.
        """
        sql = PLACES.format(audited=audited(experiment.settings))
        while read := database.rows(sql, (experiment.id, self._last, CHUNK)):
            self._last, found = read[-1][0], list[int]()
            for number, row, *about in read:
                slate = slate_id(row)
                part = self._parts.pop(slate, Part()).with_place(number, *about)
                if len(part.numbers) < (part.places or len(part.numbers) + 1):
                    self._parts[slate] = part
                elif part.counts:
                    found += part.numbers
            yield found
