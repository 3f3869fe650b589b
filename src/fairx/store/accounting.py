"""Decisions accounted for: each is mature or waits, until the end of its window, and has a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .archives.record import Cut
from .database import Database

COUNT = "SELECT count(*) FROM {} WHERE experiment = ?"
OLDER = "SELECT count(*) FROM decisions WHERE experiment = ? AND snapshot < ?"
# Stores before version 3 learned from a decision as soon as a reward was final.
NOT_FINAL = "NOT EXISTS (SELECT 1 FROM rewards r WHERE r.decision = d.id AND r.final = 1)"
MOVED = f"""
SELECT count(*) FROM waiting w JOIN decisions d ON d.sequence = w.sequence
WHERE w.experiment = ? AND w.due <> d.due AND {NOT_FINAL}
"""
EARLY = f"""
SELECT count(*) FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND m.time < d.due AND {NOT_FINAL}
"""


class Account(NamedTuple):
    """How many decisions there are of an experiment, and where."""

    decisions: int
    waiting: int
    matured: int
    moved: int  # that wait until another time than the end of their window
    early: int  # that were learned before it
    older: int  # whose snapshot is archived

    def problems(self, made: int) -> Iterator[str]:
        """Say what does not add up, where so many were made again."""
        if self.decisions != self.waiting + self.matured:
            yield (
                f"{self.decisions} decisions, but {self.waiting} wait and {self.matured} are mature"
            )
        if self.decisions != made + self.older:
            yield f"{self.decisions - made - self.older} decisions have no snapshot"
        if self.moved:
            yield f"{self.moved} decisions wait until another time than they were to"
        if self.early:
            yield f"{self.early} decisions were learned before their window ended"


def accounted(database: Database, experiment: int, start: Cut) -> Account:
    """Count the decisions of an experiment, of which what is before a cut is archived."""
    tables = ("decisions", "waiting", "matured")
    found: list[int] = [
        database.rows(sql, (experiment,))[0][0]
        for sql in (*(COUNT.format(table) for table in tables), MOVED, EARLY)
    ]
    ((older,),) = database.rows(OLDER, (experiment, start.version))
    return Account._make([*found, older])
