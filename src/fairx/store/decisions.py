"""Decisions on record: each once, whatever is retried."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from .archives.record import archived_among, archived_key
from .compact import KnownPools, keep_pools, shortened
from .database import Database, Row, add, insert_new, rows_among
from .errors import Conflict
from .sealing import sealed

COLUMNS = (
    "id, experiment, time, snapshot, arm, slot, candidates, probabilities, contexts, unit, asked, "
    "place, weight, propensity"
)
SEALED = COLUMNS.replace(" contexts,", "") + ", due, erased"
WAITING = "id, sequence, experiment, due"
CONTEXTS = 8  # where they are in a decision
STORED = f"SELECT {COLUMNS}, erased FROM decisions WHERE id IN ({{}})"


class Decision(NamedTuple):
    """A decision as it is on record, or one place of a slate."""

    id: str
    experiment: int
    time: float
    snapshot: int
    arm: int  # its number
    position: int  # among the candidates; the column is called slot
    candidates: bytes | None  # their numbers as int32; None for all arms that were active
    probabilities: (
        bytes  # as float64, of all candidates; of a slate, its exposures; or their digest
    )
    contexts: bytes | None  # as float64, of all candidates; of a place after the first, the arm's
    unit: str | None
    asked: bytes  # a digest of the request: another one may not use the same key
    place: int | None = None  # from 1; None for a decision that is no slate
    weight: float | None = None
    propensity: float | None = None  # of the arm, at this place; None if all are on record for ever


class Recorded(NamedTuple):
    """A decision that is on record, and whether it was already."""

    decision: Decision
    repeated: bool


def write_decisions(
    database: Database, asked: Sequence[tuple[Decision, float]]
) -> list[Recorded | Exception]:
    """Write decisions with the time until which each waits for rewards.

    Where a key was used before, what is on record is returned, or a conflict where the request
    was another.
    """
    short = [(shortened(decision), due) for decision, due in asked]
    new, archived = insert_decisions(database, short)
    if new:
        keep_pools(database, (decision for decision, _ in asked if decision.id in new))
        seal(database, [each for each in reversed(short) if each[0].id in new])
    if len(new) == len(asked):
        return [Recorded(decision, False) for decision, _ in asked]
    there = fetched(database, [decision.id for decision, _ in asked])
    stored = {made.id: (made, erased) for made, erased in there}
    found: list[Recorded | Exception] = []
    for decision, _ in asked:
        if decision.id in archived:
            found.append(archived_key())
            continue
        found.append(_same(decision, *stored[decision.id], repeated=decision.id not in new))
        new.discard(decision.id)  # of two in one go, the second repeats the first
    return found


def insert_decisions(
    database: Database, decisions: Sequence[tuple[Decision, float]]
) -> tuple[set[str], set[str]]:
    """Write the decisions that are not on record, and have them wait.

    Returned are their ids, and those of decisions that are archived, which are taken out again. Asked
    after they were written: who archives them meanwhile has them wait, or is seen here.
    """
    new = insert_rows(database, decisions)
    archived = archived_among(database, [row[0] for row in new])
    take_out(database, archived)
    have_wait(database, [row for row in new if row[0] not in archived])
    return {row[0] for row in new} - archived, archived


def insert_rows(database: Database, decisions: Sequence[tuple[Decision, float]]) -> list[Row]:
    """Write the decisions that are not on record; return what `have_wait` takes."""
    rows = [(*decision, due) for decision, due in decisions]
    return insert_new(database, "decisions", f"{COLUMNS}, due", rows, WAITING)


def have_wait(database: Database, new: Sequence[Row]) -> None:
    """Have decisions wait for the end of their windows."""
    add(database, "waiting", [row[1:] for row in new])


def seal(database: Database, written: Sequence[tuple[Decision, float]]) -> None:
    """Seal decisions; of two of one id, the last."""
    if database.ledger is None:
        return
    lines: dict[int, dict[str, tuple[Any, ...]]] = {}
    for decision, due in written:
        lines.setdefault(decision.experiment, {})[decision.id] = sealed_line(decision, due, None)
    for experiment, by_id in lines.items():
        sealed(database, "decisions", experiment, by_id.values())


def sealed_line(decision: Decision, due: float, erased: float | None) -> tuple[Any, ...]:
    """Return what is sealed of a decision: not its contexts, of which `asked` is a digest."""
    return (*decision[:CONTEXTS], *decision[CONTEXTS + 1 :], due, erased)


def fetched(database: Database, ids: Sequence[str]) -> list[tuple[Decision, float | None]]:
    """Return decisions with all of their candidates, each with the time at which it was erased."""
    pools, rows = KnownPools(database), rows_among(database, STORED, ids)
    return [(pools.whole(Decision(*row[:-1])), row[-1]) for row in rows]


def take_out(database: Database, archived: Collection[str]) -> None:
    """Take out again what was written in this transaction under ids that are archived."""
    rows_among(database, "DELETE FROM decisions WHERE id IN ({})", sorted(archived))


def _same(
    asked: Decision, stored: Decision, erased: float | None, repeated: bool
) -> Recorded | Exception:
    try:
        check_same(stored, erased, asked.asked)
    except Conflict as conflict:
        return conflict
    return Recorded(stored, repeated)


def check_same(stored: Decision, erased: float | None, asked: bytes) -> None:
    """Refuse to answer a request by the answer to another."""
    if stored.place is not None or (erased is None and stored.asked != asked):
        raise Conflict(
            "key must be new for another request: it was used with other candidates or contexts",
            "key",
        )
