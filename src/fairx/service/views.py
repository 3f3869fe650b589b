"""What readers ask the store: one experiment or decision, counts, actions, tokens."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from fairx.store.database import Database
from fairx.store.decisions import Decision, fetched
from fairx.store.errors import NotFound
from fairx.store.settings import written
from fairx.store.snapshots import ACTIVE, Snapshot, arms_at

from . import answers

MINUTE = 60.0


def experiment(snapshot: Snapshot) -> answers.ExperimentOut:
    """Return an experiment as clients see it."""
    found = snapshot.experiment
    arms = [answers.ArmState(arm.name, arm.status) for arm in snapshot.arms]  # type: ignore[arg-type]
    about = written(found.settings)
    return answers.ExperimentOut(
        name=found.name, status=found.status, arms=arms, snapshot=snapshot.version,  # type: ignore[arg-type]
        created=found.created, **about,
    )  # fmt: skip


def decision(database: Database, snapshot: Snapshot, name: str) -> answers.DecisionOut:
    """Return a decision with all that came of it."""
    rows = [row for row in fetched(database, [name]) if row[1] == snapshot.experiment.id]
    if not rows:
        raise NotFound(f"decision {name!r} does not exist in {snapshot.experiment.name!r}")
    made = Decision(*rows[0][:-1])
    arms = arms_at(database, made.experiment, made.snapshot)
    places = [place for place, arm in enumerate(arms) if arm.status == ACTIVE]
    if made.candidates is not None:
        places = np.frombuffer(made.candidates, "<i4").tolist()
    chances = np.frombuffer(made.probabilities).tolist()
    status, due, reward = _outcome(database, name)
    found = answers.DecisionOut(
        decision=name, time=made.time, arm=arms[made.arm].name, propensity=chances[made.position],
        snapshot=made.snapshot, status=status, due=due, reward=reward,  # type: ignore[arg-type]
        probabilities={arms[p].name: chance for p, chance in zip(places, chances, strict=True)},
        rewards=_rewards(database, name), shown=_shown(database, name),
    )  # fmt: skip
    if made.unit is not None:
        found.unit = made.unit
    if made.contexts is not None:
        found.contexts = np.frombuffer(made.contexts).reshape(len(places), -1).tolist()
    return found


def status(database: Database, snapshot: Snapshot, now: float) -> answers.Status:
    """Return how an experiment is doing, arm by arm."""
    key = snapshot.experiment.id
    made = _by_arm(
        database, "SELECT arm, count(*) FROM decisions WHERE experiment = ? GROUP BY arm", key
    )
    mature = "SELECT d.arm, {} FROM matured m JOIN decisions d ON d.sequence = m.sequence WHERE m.experiment = ? GROUP BY d.arm"
    rewarded = _by_arm(
        database, mature.format("sum(CASE WHEN m.rewards > 0 THEN 1 ELSE 0 END)"), key
    )
    matured = _by_arm(database, mature.format("count(*)"), key)
    given = "SELECT d.arm, count(*) FROM rewards r JOIN decisions d ON d.id = r.decision WHERE r.experiment = ? AND r.late = {} GROUP BY d.arm"
    rewards, late = (_by_arm(database, given.format(flag), key) for flag in (0, 1))
    ((parked,),) = database.rows(
        "SELECT count(*) FROM rewards r WHERE r.experiment = ? AND NOT EXISTS "
        "(SELECT 1 FROM decisions d WHERE d.id = r.decision)", (key,),
    )  # fmt: skip
    arms = [
        answers.ArmCounts(
            arm.name, arm.status, made.get(i, 0), rewards.get(i, 0), late.get(i, 0),
            matured.get(i, 0) - rewarded.get(i, 0), made.get(i, 0) - matured.get(i, 0),
        )
        for i, arm in enumerate(snapshot.arms)
    ]  # fmt: skip
    total, done = sum(made.values()), sum(matured.values())
    return answers.Status(
        total, done, total - done, parked, _recent(database, key, now) / MINUTE,
        snapshot.version, max(0.0, now - snapshot.time), arms,
    )  # fmt: skip


def actions(database: Database) -> answers.Actions:
    """Return the last thousand administrative actions, newest first."""
    sql = "SELECT time, actor, action, experiment, detail FROM actions ORDER BY id DESC LIMIT 1000"
    rows = [(*about, json.loads(detail)) for *about, detail in database.rows(sql)]
    ((total,),) = database.rows("SELECT count(*) FROM actions")
    return answers.Actions([answers.Action(*row) for row in rows], total - len(rows))


def tokens(database: Database) -> answers.Tokens:
    """Return the tokens that are valid, without their secrets."""
    sql = "SELECT id, name, role, experiment, created FROM tokens WHERE revoked IS NULL ORDER BY created"
    return answers.Tokens([answers.Token(*row) for row in database.rows(sql)])


def _outcome(database: Database, name: str) -> tuple[str, float, float | None]:
    sql = (
        "SELECT w.due, m.time, m.reward FROM decisions d LEFT JOIN waiting w ON w.sequence = d.sequence "
        "LEFT JOIN matured m ON m.sequence = d.sequence WHERE d.id = ?"
    )
    ((due, time, reward),) = database.rows(sql, (name,))
    return ("waiting", due, None) if due is not None else ("mature", time, reward)


def _rewards(database: Database, name: str) -> list[answers.RewardOut]:
    sql = "SELECT id, value, final, late, time FROM rewards WHERE decision = ? ORDER BY time, id"
    rows = database.rows(sql, (name,))
    return [answers.RewardOut(row[0], row[1], bool(row[2]), bool(row[3]), row[4]) for row in rows]


def _shown(database: Database, name: str) -> float | None:
    rows = database.rows("SELECT time FROM shown WHERE decision = ?", (name,))
    return rows[0][0] if rows else None


def _recent(database: Database, key: int, now: float) -> int:
    """Return how many decisions were made in the last minute, by the index over snapshots."""
    sql = "SELECT max(version) FROM snapshots WHERE experiment = ? AND time <= ?"
    ((version,),) = database.rows(sql, (key, now - MINUTE))
    sql = "SELECT count(*) FROM decisions WHERE experiment = ? AND snapshot >= ? AND time > ?"
    ((count,),) = database.rows(sql, (key, version or 0, now - MINUTE))
    found: int = count
    return found


def _by_arm(database: Database, sql: str, key: int) -> dict[Any, int]:
    return {arm: int(count) for arm, count in database.rows(sql, (key,))}
