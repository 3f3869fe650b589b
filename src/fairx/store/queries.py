"""What readers ask of a store: a decision and what came of it, counts by arm, actions."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from .database import Database
from .decisions import Decision, fetched
from .errors import NotFound
from .snapshots import Snapshot, arms_at, candidates_of

MINUTE = 60.0
LAST = 1000  # actions
MADE = "SELECT arm, count(*) FROM decisions WHERE experiment = ? GROUP BY arm"
MATURE = """
SELECT d.arm, count(*), sum(CASE WHEN m.rewards > 0 THEN 1 ELSE 0 END)
FROM matured m JOIN decisions d ON d.sequence = m.sequence WHERE m.experiment = ? GROUP BY d.arm
"""
GIVEN = """
SELECT d.arm, sum(1 - r.late), sum(r.late)
FROM rewards r JOIN decisions d ON d.id = r.decision WHERE r.experiment = ? GROUP BY d.arm
"""
PARKED = """
SELECT count(*) FROM rewards r
WHERE r.experiment = ? AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.id = r.decision)
"""
OUTCOME = """
SELECT w.due, m.time, m.reward FROM decisions d LEFT JOIN waiting w ON w.sequence = d.sequence
LEFT JOIN matured m ON m.sequence = d.sequence WHERE d.id = ?
"""


class GivenReward(NamedTuple):
    """A reward on record."""

    id: str
    value: float
    final: bool
    late: bool
    time: float


class History(NamedTuple):
    """A decision and all that came of it."""

    decision: Decision
    arm: str
    propensity: float
    probabilities: dict[str, float]
    contexts: list[list[float]] | None
    is_mature: bool
    due: float  # until when it waits, or when it became mature
    learned: float | None
    rewards: list[GivenReward]
    shown: float | None


class ArmCounts(NamedTuple):
    """What came in for an arm."""

    decisions: int = 0
    rewards: int = 0
    late: int = 0
    mature: int = 0
    rewarded: int = 0  # of those that are mature


class Counts(NamedTuple):
    """What came in for an experiment."""

    decisions: int
    mature: int
    arms: list[ArmCounts]  # by the arm's number, as far as the snapshot has them
    parked: int
    last_minute: int  # decisions


class Action(NamedTuple):
    """An administrative action."""

    time: float
    actor: str
    action: str
    experiment: str | None
    detail: Any


def history(database: Database, snapshot: Snapshot, decision: str) -> History:
    """Return a decision of an experiment with all that came of it."""
    stored = [row for row in fetched(database, [decision]) if row[1] == snapshot.experiment.id]
    if not stored:
        raise NotFound(f"decision {decision!r} does not exist in {snapshot.experiment.name!r}")
    made = Decision(*stored[0][:-1])
    arms = arms_at(database, made.experiment, made.snapshot)
    names = [arms[number].name for number in candidates_of(arms, made.candidates)]
    chances = np.frombuffer(made.probabilities).tolist()
    rows = None if made.contexts is None else np.frombuffer(made.contexts).reshape(len(names), -1)
    ((due, time, reward),) = database.rows(OUTCOME, (decision,))
    return History(
        made, arms[made.arm].name, chances[made.position],
        dict(zip(names, chances, strict=True)), None if rows is None else rows.tolist(),
        due is None, time if due is None else due, reward if due is None else None,
        _rewards(database, decision), _shown(database, decision),
    )  # fmt: skip


def counts(database: Database, snapshot: Snapshot, now: float) -> Counts:
    """Return what came in, arm by arm."""
    key = snapshot.experiment.id
    made, mature, given = (
        {arm: [int(value) for value in values] for arm, *values in database.rows(sql, (key,))}
        for sql in (MADE, MATURE, GIVEN)
    )
    nothing = [0, 0]
    arms = [
        ArmCounts(*made.get(i, [0]), *given.get(i, nothing), *mature.get(i, nothing))
        for i in range(len(snapshot.arms))
    ]
    ((parked,),) = database.rows(PARKED, (key,))
    total, done = (sum(values[0] for values in each.values()) for each in (made, mature))
    return Counts(total, done, arms, parked, _last_minute(database, key, now))


def last_actions(database: Database) -> tuple[list[Action], int]:
    """Return the last administrative actions, newest first, and how many more there are."""
    sql = "SELECT time, actor, action, experiment, detail FROM actions ORDER BY id DESC LIMIT ?"
    rows = database.rows(sql, (LAST,))
    found = [Action(*row)._replace(detail=json.loads(row[-1])) for row in rows]
    ((total,),) = database.rows("SELECT count(*) FROM actions")
    return found, total - len(found)


def _rewards(database: Database, decision: str) -> list[GivenReward]:
    sql = "SELECT id, value, final, late, time FROM rewards WHERE decision = ? ORDER BY time, id"
    return [
        GivenReward(number, value, bool(final), bool(late), time)
        for number, value, final, late, time in database.rows(sql, (decision,))
    ]


def _shown(database: Database, decision: str) -> float | None:
    rows = database.rows("SELECT time FROM shown WHERE decision = ?", (decision,))
    return rows[0][0] if rows else None


def _last_minute(database: Database, key: int, now: float) -> int:
    """Return how many decisions were made in the last minute, by the index over snapshots."""
    sql = "SELECT max(version) FROM snapshots WHERE experiment = ? AND time <= ?"
    ((version,),) = database.rows(sql, (key, now - MINUTE))
    sql = "SELECT count(*) FROM decisions WHERE experiment = ? AND snapshot >= ? AND time > ?"
    ((count,),) = database.rows(sql, (key, version or 0, now - MINUTE))
    found: int = count
    return found
