"""What readers ask of a store: counts by arm, and actions."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .archives.tallies import Tally, kept
from .database import Database
from .snapshots import Snapshot

MINUTE = 60.0
LAST = 1000  # actions
MADE = """
SELECT arm, count(*), sum(COALESCE(weight, 1)), count(weight) FROM decisions
WHERE experiment = ? GROUP BY arm
"""
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


class ArmCounts(NamedTuple):
    """What came in for an arm."""

    decisions: int = 0
    rewards: int = 0
    late: int = 0
    mature: int = 0
    rewarded: int = 0  # of those that are mature
    weight: float = 0.0  # of the places at which it was shown; 1 for a decision that is no slate


class Counts(NamedTuple):
    """What came in for an experiment."""

    decisions: int
    mature: int
    arms: list[ArmCounts]  # by the arm's number, as far as the snapshot has them
    parked: int
    last_minute: int  # decisions
    has_slates: bool


class Action(NamedTuple):
    """An administrative action."""

    time: float
    actor: str
    action: str
    experiment: str | None
    detail: Any


def counts(database: Database, snapshot: Snapshot, now: float) -> Counts:
    """Return what came in, arm by arm."""
    key = snapshot.experiment.id
    rows = database.rows(MADE, (key,))
    made = {arm: (count, weight) for arm, count, weight, _ in rows}
    mature, given = (
        {arm: [int(value) for value in values] for arm, *values in database.rows(sql, (key,))}
        for sql in (MATURE, GIVEN)
    )
    nothing, arms, archived = [0, 0], [], kept(database, key)
    for i in range(len(snapshot.arms)):
        count, weight = made.get(i, (0, 0.0))
        here = Tally(count, weight, 0, *mature.get(i, nothing), *given.get(i, nothing))
        both = here.plus(archived.get(i, Tally()))
        arms.append(
            ArmCounts(
                both.decisions, both.rewards, both.late, both.mature, both.rewarded, both.weight
            )
        )
    ((parked,),) = database.rows(PARKED, (key,))
    slates = any(row[-1] for row in rows) or any(each.weighted for each in archived.values())
    return Counts(
        sum(each.decisions for each in arms), sum(each.mature for each in arms), arms, parked,
        _last_minute(database, key, now), slates,
    )  # fmt: skip


def last_actions(database: Database) -> tuple[list[Action], int]:
    """Return the last administrative actions, newest first, and how many more there are."""
    sql = "SELECT time, actor, action, experiment, detail FROM actions ORDER BY id DESC LIMIT ?"
    rows = database.rows(sql, (LAST,))
    found = [Action(*row)._replace(detail=json.loads(row[-1])) for row in rows]
    ((total,),) = database.rows("SELECT count(*) FROM actions")
    ((archived,),) = database.rows("SELECT sum(lines) FROM archives WHERE kind = 'actions'")
    return found, total + int(archived or 0) - len(found)


def _last_minute(database: Database, key: int, now: float) -> int:
    """Return how many decisions were made in the last minute, by the index over snapshots."""
    sql = "SELECT max(version) FROM snapshots WHERE experiment = ? AND time <= ?"
    ((version,),) = database.rows(sql, (key, now - MINUTE))
    sql = "SELECT count(*) FROM decisions WHERE experiment = ? AND snapshot >= ? AND time > ?"
    ((count,),) = database.rows(sql, (key, version or 0, now - MINUTE))
    found: int = count
    return found
