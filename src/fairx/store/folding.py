"""The fold: decisions that are mature enter the statistics, once each, and make a snapshot."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Matrix

from . import crash_points
from .database import Database, add, rows_among
from .sealing import sealed
from .settings import is_kept_whole
from .snapshots import ServedExperiment, Snapshot, newest, publish
from .statistics import learn
from .told import tell_and_learn

CHECKPOINT = 2_000  # decisions
AT_ONCE = 500  # decisions in one transaction: decisions that are being made wait no longer


MATURE = "sequence, id, arm, slot, contexts, erased, place"  # the columns


class Mature(NamedTuple):
    """A decision, or a place of a slate, whose window has closed."""

    sequence: int
    id: str
    arm: int
    position: int
    contexts: bytes | None
    erased: float | None
    place: int | None


def fold(
    database: Database, experiment: ServedExperiment, now: float, limit: int = AT_ONCE
) -> Snapshot | None:
    """Learn from decisions that are mature; return the new snapshot, if there is one."""
    found = folded(database, experiment, now, limit)
    return found and found[0]


def folded(
    database: Database, experiment: ServedExperiment, now: float, limit: int = AT_ONCE
) -> tuple[Snapshot, int] | None:
    """Learn from decisions that are mature; return the new snapshot, and from how many, if any."""
    sql = "SELECT version FROM statistics WHERE experiment = ?"
    if not database.rows(sql + database.claim, (experiment.id,)):
        return None  # another process is at it
    sql = "SELECT sequence FROM waiting WHERE experiment = ? AND due <= ? ORDER BY due, sequence LIMIT ?"
    due = [number for (number,) in database.rows(sql + database.claim, (experiment.id, now, limit))]
    if not due:
        return None
    before = newest(database, experiment)
    mature = _fetched(database, due)
    rewards = outcomes(database, experiment, mature)
    _write(database, before, mature, rewards, now)
    crash_points.reach("mid_fold")
    sums = before.sums.copy()
    learn_from(database, experiment, sums, mature, [reward for reward, _ in rewards])
    snapshot = Snapshot(
        experiment, before.version + 1, before.watermark + len(due), now, before.arms, sums
    )
    publish(database, snapshot)
    if before.watermark // every(snapshot) < snapshot.watermark // every(snapshot):
        keep_sums(database, snapshot)
    crash_points.reach("mid_snapshot")
    return snapshot, len(due)


def every(snapshot: Snapshot) -> int:
    """Return after how many decisions sums are kept: they take 8 bytes a decision, or fewer."""
    return max(CHECKPOINT, snapshot.sums.size)


def keep_sums(database: Database, snapshot: Snapshot) -> None:
    """Keep the sums of a snapshot: earlier ones are made again from the last kept before them."""
    row = (snapshot.experiment.id, snapshot.watermark, snapshot.sums.tobytes())
    database.rows("INSERT INTO checkpoints VALUES (?, ?, ?) ON CONFLICT DO NOTHING", row)


def outcomes(
    database: Database, experiment: ServedExperiment, mature: list[Mature]
) -> list[tuple[float | None, int]]:
    """Return what each decision is learned as (None: not at all), and how many rewards it had."""
    ids = [each.id for each in mature]
    sql = "SELECT decision, value FROM rewards WHERE late = 0 AND decision IN ({})"
    given: dict[str, list[float]] = defaultdict(list)
    for decision, value in rows_among(database, sql, ids):
        given[decision].append(value)
    settings = experiment.settings
    shown = set(ids)
    if settings.requires_shown:
        sql = "SELECT decision FROM shown WHERE late = 0 AND decision IN ({})"
        shown = {found for (found,) in rows_among(database, sql, ids)} | given.keys()
    found: list[tuple[float | None, int]] = []
    for each in mature:
        values = given.get(each.id, [])
        # A sum that does not depend on the order in which rewards came.
        reward = math.fsum(values) if values else settings.missing_reward
        lost = each.erased is not None and settings.dimension > 0
        found.append((None if lost or each.id not in shown else reward, len(values)))
    return found


def learn_from(
    database: Database, experiment: ServedExperiment, sums: Any, mature: list[Mature],
    rewards: list[float | None],
) -> None:  # fmt: skip
    """Add decisions to the sums, in their order."""
    dimension = experiment.settings.dimension
    if is_kept_whole(experiment.settings):
        pairs = zip(mature, rewards, strict=True)
        rows = _contexts([None if r is None else each for each, r in pairs], dimension)
        tell_and_learn(database, experiment, sums, mature, rows, rewards)
        return
    learned = [(each, r) for each, r in zip(mature, rewards, strict=True) if r is not None]
    values = np.array([reward for _, reward in learned], np.float64)
    contexts = _contexts([each for each, _ in learned], dimension)
    learn(experiment.settings, sums, [each.arm for each, _ in learned], contexts, values)


def _contexts(mature: Sequence[Mature | None], dimension: int) -> Matrix:
    """Return the context of each arm that was chosen; zeros where nothing is learned."""
    rows = np.zeros((len(mature), dimension))
    for i, each in enumerate(mature):
        if dimension and each is not None:
            position = each.position if (each.place or 1) == 1 else 0  # others have their own alone
            rows[i] = np.frombuffer(each.contexts or b"").reshape(-1, dimension)[position]
    return rows


def _fetched(database: Database, due: list[int]) -> list[Mature]:
    sql = f"SELECT {MATURE} FROM decisions WHERE sequence IN ({{}})"
    found = {row[0]: Mature(*row) for row in rows_among(database, sql, due)}
    return [found[number] for number in due]


def _write(
    database: Database,
    before: Snapshot,
    mature: list[Mature],
    rewards: list[tuple[float | None, int]],
    now: float,
) -> None:
    rows = [
        (before.experiment.id, before.watermark + i, each.sequence, reward, count, now)
        for i, (each, (reward, count)) in enumerate(zip(mature, rewards, strict=True), 1)
    ]
    add(database, "matured", rows)
    sealed(database, "matured", before.experiment.id, rows)
    learned = [each.sequence for each in mature]
    rows_among(database, "DELETE FROM waiting WHERE sequence IN ({})", learned)
