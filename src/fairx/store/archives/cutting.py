"""Where to cut: what is old goes, with all that nothing younger needs."""

from __future__ import annotations

from ..database import Database
from ..identity import LETTERS
from .record import Cut, last_cut

AT_ONCE = (
    20_000  # decisions in one transaction: with PostgreSQL, others wait no longer than this takes
)
CHUNK = 5_000
# Folds of several processes need not come in the order of their clocks.
YOUNG = "SELECT number FROM matured WHERE experiment = ? AND time >= ? ORDER BY number LIMIT 1"
MATURE = "SELECT COALESCE(max(number), 0) FROM matured WHERE experiment = ?"
# SQLite would give the number of the very last decision to another if it were gone.
LAST = """
SELECT m.number FROM matured m
WHERE m.experiment = ? AND m.sequence = (SELECT max(sequence) FROM decisions)
"""
# A process that was away may have decided by a snapshot that is archived: that one is not needed.
NEEDED = """
SELECT min(snapshot) FROM (
  SELECT min(d.snapshot) AS snapshot FROM waiting w JOIN decisions d ON d.sequence = w.sequence
  WHERE w.experiment = ? AND d.snapshot >= ?
  UNION ALL
  SELECT min(d.snapshot) FROM matured m JOIN decisions d ON d.sequence = m.sequence
  WHERE m.experiment = ? AND m.number > ? AND d.snapshot >= ?
) AS young
"""
WATERMARK = "SELECT watermark FROM snapshots WHERE experiment = ? AND version = ?"
FIRST = "SELECT min(version) FROM snapshots WHERE experiment = ? AND watermark >= ?"
# The place before or after one is beyond the cut, or waits.
SPLIT = f"""
SELECT min(m.number) FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND m.number > ? AND m.number <= ? AND d.place IS NOT NULL AND EXISTS (
  SELECT 1 FROM decisions o LEFT JOIN matured n ON n.sequence = o.sequence
  WHERE o.id IN (
    substr(d.id, 1, {LETTERS}) || '.' || CAST(d.place + 1 AS TEXT),
    CASE WHEN d.place = 2 THEN substr(d.id, 1, {LETTERS})
      ELSE substr(d.id, 1, {LETTERS}) || '.' || CAST(d.place - 1 AS TEXT) END)
  AND (n.number IS NULL OR n.number > ?))
"""


def next_cut(database: Database, experiment: int, before: float) -> Cut | None:
    """Return up to where to archive what was mature before a time; None where nothing is left to.

    What is younger must be there with all that it follows from: the snapshots that it was made by, and
    what is learned between the first of these and now. So decisions of about one window more stay.
    """
    start, most = last_cut(database, experiment).upto, _most(database, experiment, before)
    limit = AT_ONCE
    while most > start:
        upto = _whole(database, experiment, start, min(most, start + limit))
        if upto > start:
            ((version,),) = database.rows(FIRST, (experiment, upto))
            return Cut(upto, version)
        if start + limit >= most:
            return None
        limit *= 2  # so many slates of one moment
    return None


def _most(database: Database, experiment: int, before: float) -> int:
    """Return up to where nothing is needed by what is younger."""
    ((old,),) = database.rows(MATURE, (experiment,))
    for (young,) in database.rows(YOUNG, (experiment, before)):
        old = young - 1
    for (last,) in database.rows(LAST, (experiment,)):
        old = min(old, last - 1)
    first = last_cut(database, experiment).version
    ((needed,),) = database.rows(NEEDED, (experiment, first, experiment, old, first))
    found = [watermark for (watermark,) in database.rows(WATERMARK, (experiment, needed))]
    return int(min([old, *found]))


def _whole(database: Database, experiment: int, start: int, upto: int) -> int:
    """Return the last number up to another with which no slate is split."""
    while upto > start:
        split = _first_split(database, experiment, start, upto)
        if split is None:
            return upto
        upto = split - 1
    return start


def _first_split(database: Database, experiment: int, start: int, upto: int) -> int | None:
    """Return the first place of a slate that would lose others of it."""
    found = []
    for low in range(start, upto, CHUNK):
        values = (experiment, low, min(low + CHUNK, upto), upto)
        found += [number for (number,) in database.rows(SPLIT, values) if number is not None]
    return min(found, default=None)
