"""The lines of the store that are archived together, kind by kind: read, locked, taken out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..database import Database, Row
from .files import CHUNK, SCHEMAS
from .record import Cut

OF_DECISIONS = "FROM matured m JOIN decisions d ON d.sequence = m.sequence"
RANGE = "m.experiment = ? AND m.number > ? AND m.number <= ?"
EVENTS = f"SELECT {{columns}} {OF_DECISIONS} JOIN {{kind}} e ON e.decision = d.id WHERE {RANGE}"
READING = {  # by the numbers of matured decisions
    "decisions": f"SELECT {{columns}} {OF_DECISIONS} WHERE {RANGE} ORDER BY m.number",
    "rewards": f"{EVENTS} ORDER BY m.number, e.id",
    "shown": f"{EVENTS} ORDER BY m.number",
    "matured": f"SELECT {{columns}} FROM matured m WHERE {RANGE} ORDER BY m.number",
}
LETTER = {"decisions": "d", "rewards": "e", "shown": "e", "matured": "m"}
# By a number of their own. The sums at the cut stay, and those kept before may be large.
BESIDE = {"snapshots": ("version", CHUNK), "checkpoints": ("watermark", 64)}
NUMBERED_BY = "SELECT {columns} FROM {kind} WHERE experiment = ? AND {number} > ? AND {number} < ? ORDER BY {number} LIMIT {most}"
DECISIONS = tuple(READING) + tuple(BESIDE)  # the kinds, of an experiment
NUMBERED = "SELECT sequence FROM matured m WHERE " + RANGE
REMOVING = (
    f"DELETE FROM rewards WHERE decision IN (SELECT d.id {OF_DECISIONS} WHERE {RANGE})",
    f"DELETE FROM shown WHERE decision IN (SELECT d.id {OF_DECISIONS} WHERE {RANGE})",
    f"DELETE FROM decisions WHERE sequence IN ({NUMBERED})",
    "DELETE FROM matured WHERE experiment = ? AND number > ? AND number <= ?",
)


class Span(NamedTuple):
    """What is archived together: an experiment, after a number of a matured decision, up to a cut."""

    experiment: int
    after: int
    cut: Cut

    def chunks(self) -> Iterator[tuple[int, int, int]]:
        """Yield the experiment and ranges of numbers."""
        for low in range(self.after, self.cut.upto, CHUNK):
            yield self.experiment, low, min(low + CHUNK, self.cut.upto)


def stored(database: Database, kind: str, span: Span) -> Iterator[list[Row]]:
    """Yield the lines of a kind as they are in the store, some at a time."""
    names = SCHEMAS[kind].names
    if kind in BESIDE:
        yield from _beside(database, kind, span)
        return
    columns = ", ".join(f"{LETTER[kind]}.{name}" for name in names)
    sql = READING[kind].format(columns=columns, kind=kind)
    yield from filter(None, (database.rows(sql, chunk) for chunk in span.chunks()))


def _beside(database: Database, kind: str, span: Span) -> Iterator[list[Row]]:
    """Yield snapshots or checkpoints before the cut."""
    (number, most), names = BESIDE[kind], SCHEMAS[kind].names
    end = span.cut.version if kind == "snapshots" else span.cut.upto
    sql = NUMBERED_BY.format(columns=", ".join(names), kind=kind, number=number, most=most)
    found = database.rows(sql, (span.experiment, -1, end))
    while found:
        yield found
        found = database.rows(sql, (span.experiment, found[-1][names.index(number)], end))


def lock(database: Database, span: Span) -> None:
    """Keep rewards and shown events that come late from being written, until the transaction ends."""
    if not database.lock:
        return
    sql = f"SELECT sequence FROM decisions WHERE sequence IN ({NUMBERED}) ORDER BY sequence"
    for chunk in span.chunks():
        database.rows(sql + database.lock, chunk)


def remove(database: Database, span: Span) -> None:
    """Take the lines out of the store; their seals stay."""
    for chunk in span.chunks():
        for sql in REMOVING:
            database.rows(sql, chunk)
    database.rows(
        "DELETE FROM snapshots WHERE experiment = ? AND version < ?",
        (span.experiment, span.cut.version),
    )
    database.rows(
        "DELETE FROM checkpoints WHERE experiment = ? AND watermark < ?",
        (span.experiment, span.cut.upto),
    )
