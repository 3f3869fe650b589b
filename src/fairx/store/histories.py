"""A decision on record and all that came of it; of a slate, place by place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .archives.record import archived_among
from .arms import arms_at, candidates_of
from .database import Database
from .decisions import COLUMNS, Decision, fetched
from .earlier import Earlier
from .errors import NotFound
from .snapshots import Snapshot

OUTCOME = """
SELECT w.due, m.time, m.reward FROM decisions d LEFT JOIN waiting w ON w.sequence = d.sequence
LEFT JOIN matured m ON m.sequence = d.sequence WHERE d.id = ?
"""
OTHER_PLACES = f"""
SELECT {COLUMNS} FROM decisions
WHERE experiment = ? AND snapshot = ? AND substr(id, 1, {{length}}) = ? ORDER BY place
"""


class GivenReward(NamedTuple):
    """A reward on record."""

    id: str
    value: float
    final: bool
    late: bool
    time: float


class Outcome(NamedTuple):
    """What came of a decision, or of one place of a slate."""

    is_mature: bool
    due: float  # until when it waits, or when it became mature
    learned: float | None
    rewards: list[GivenReward]
    shown: float | None


class PlaceHistory(NamedTuple):
    """One place of a slate."""

    place: int
    arm: str
    weight: float
    propensity: float
    outcome: Outcome


class History(NamedTuple):
    """A decision and all that came of it."""

    decision: Decision  # of a slate, its first place
    arm: str
    propensity: float
    probabilities: dict[str, float]  # of a slate, the exposures
    contexts: list[list[float]] | None
    outcome: Outcome
    places: list[PlaceHistory]  # of a slate


def history(database: Database, snapshot: Snapshot, decision: str) -> History:
    """Return a decision of an experiment with all that came of it."""
    stored = [made for made, _ in fetched(database, [decision])]
    if archived_among(database, [decision]):
        raise NotFound(f"decision {decision!r} is archived: an export of the log has it")
    if not stored or stored[0].experiment != snapshot.experiment.id:
        raise NotFound(f"decision {decision!r} does not exist in {snapshot.experiment.name!r}")
    (made,) = stored
    arms = arms_at(database, made.experiment, made.snapshot)
    names = [arms[number].name for number in candidates_of(arms, made.candidates)]
    chances = Earlier(database, snapshot.experiment).chances(made).tolist()
    rows = None if made.contexts is None else np.frombuffer(made.contexts).reshape(len(names), -1)
    propensity = chances[made.position] if made.propensity is None else made.propensity
    places = [] if made.place is None else [made, *_other_places(database, made)]
    return History(
        made, arms[made.arm].name, propensity,
        dict(zip(names, chances, strict=True)), None if rows is None else rows.tolist(),
        _outcome(database, made.id),
        [_at_place(database, each, arms[each.arm].name) for each in places],
    )  # fmt: skip


def _at_place(database: Database, made: Decision, arm: str) -> PlaceHistory:
    found: Any = (made.place, arm, made.weight, made.propensity, _outcome(database, made.id))
    return PlaceHistory(*found)


def _other_places(database: Database, made: Decision) -> list[Decision]:
    start = made.id + "."
    sql = OTHER_PLACES.format(length=len(start))
    rows = database.rows(sql, (made.experiment, made.snapshot, start))
    return [Decision(*row) for row in rows]


def _outcome(database: Database, row: str) -> Outcome:
    ((due, time, reward),) = database.rows(OUTCOME, (row,))
    return Outcome(
        due is None, time if due is None else due, reward if due is None else None,
        _rewards(database, row), _shown(database, row),
    )  # fmt: skip


def _rewards(database: Database, decision: str) -> list[GivenReward]:
    sql = "SELECT id, value, final, late, time FROM rewards WHERE decision = ? ORDER BY time, id"
    return [
        GivenReward(number, value, bool(final), bool(late), time)
        for number, value, final, late, time in database.rows(sql, (decision,))
    ]


def _shown(database: Database, decision: str) -> float | None:
    rows = database.rows("SELECT time FROM shown WHERE decision = ?", (decision,))
    return rows[0][0] if rows else None
