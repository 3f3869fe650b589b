"""What deciders hold: the newest fold of the log, immutable and numbered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Vector

from .database import Database
from .sealing import sealed
from .settings import Settings, checked

THERE = "status <> 'deleted'"
ACTIVE, PAUSED, REMOVED = "active", "paused", "removed"


class ServedExperiment(NamedTuple):
    """An experiment as it was created, and whether it is running."""

    id: int
    name: str
    status: str  # running, paused or deleted
    created: float
    settings: Settings
    seed: bytes


class Arm(NamedTuple):
    """An arm; its number, the index among all arms, never changes."""

    name: str
    status: str


class Snapshot(NamedTuple):
    """All that a decision depends on, beside its id and what is on offer."""

    experiment: ServedExperiment
    version: int
    watermark: int  # how many decisions have been learned from
    time: float
    arms: tuple[Arm, ...]
    sums: Vector

    def digest(self) -> str:
        """Return a digest of all that decisions follow from."""
        arms = json.dumps(self.arms).encode()
        return hashlib.sha256(
            b"%d\0%b\0%b" % (self.watermark, arms, self.sums.tobytes())
        ).hexdigest()


def experiments(
    database: Database, where: str = THERE, values: Sequence[Any] = ()
) -> list[ServedExperiment]:
    """Return the experiments that are there."""
    sql = f"SELECT id, name, status, created, settings FROM experiments WHERE {where} ORDER BY id"
    return [_experiment(row) for row in database.rows(sql, values)]


def newest(database: Database, experiment: ServedExperiment) -> Snapshot:
    """Return the newest snapshot; its parts were committed together."""
    sql = (
        "SELECT n.version, n.watermark, n.body, s.time FROM statistics n JOIN snapshots s "
        "ON s.experiment = n.experiment AND s.version = n.version WHERE n.experiment = ?"
    )
    ((version, watermark, body, time),) = database.rows(sql, (experiment.id,))
    arms = arms_at(database, experiment.id, version)
    return Snapshot(experiment, version, watermark, time, arms, np.frombuffer(body).copy())


def newest_of_all(database: Database, only: Collection[int] | None = None) -> list[Snapshot]:
    """Return the newest snapshot of each experiment that is there, or of `only` these."""
    these = "" if only is None else f" AND id IN ({', '.join(map(str, sorted(only)))})"
    return [newest(database, each) for each in experiments(database, THERE + these)]


def newest_named(database: Database, name: str) -> Snapshot | None:
    """Return the newest snapshot of the experiment of a name, if there is one."""
    found = experiments(database, THERE + " AND name = ?", (name,))
    return newest(database, found[0]) if found else None


def arms_at(database: Database, experiment: int, version: int) -> tuple[Arm, ...]:
    """Return the arms as of a version: the last change of each counts."""
    sql = "SELECT place, name, status FROM arms WHERE experiment = ? AND version <= ? ORDER BY version"
    last = {
        number: Arm(name, status)
        for number, name, status in database.rows(sql, (experiment, version))
    }
    return tuple(last[number] for number in range(len(last)))


def candidates_of(arms: Sequence[Arm], named: bytes | None) -> list[int]:
    """Return the numbers of the candidates of a decision: all active arms where none were named.

    Examples
    --------
    >>> arms = [Arm("a", ACTIVE), Arm("b", PAUSED), Arm("c", ACTIVE)]
    >>> candidates_of(arms, None), candidates_of(arms, bytes([2, 0, 0, 0]))
    ([0, 2], [2])
    """
    if named is None:
        return [number for number, arm in enumerate(arms) if arm.status == ACTIVE]
    numbers: list[int] = np.frombuffer(named, "<i4").tolist()
    return numbers


def publish(database: Database, snapshot: Snapshot) -> None:
    """Write the fold and what it is called, in the transaction that made it."""
    key = snapshot.experiment.id
    body = snapshot.sums.tobytes()
    database.rows(
        "UPDATE statistics SET version = ?, watermark = ?, body = ? WHERE experiment = ?",
        (snapshot.version, snapshot.watermark, body, key),
    )
    row = (key, snapshot.version, snapshot.watermark, snapshot.digest(), snapshot.time)
    database.rows("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)", row)
    sealed(database, "snapshots", key, [row])
    database.announce(key)


def _experiment(row: tuple[Any, ...]) -> ServedExperiment:
    number, name, status, created, text = row
    settings = json.loads(text)
    return ServedExperiment(
        number, name, status, created, checked(settings), bytes.fromhex(settings["seed"])
    )
