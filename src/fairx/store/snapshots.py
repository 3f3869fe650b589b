"""What deciders hold: the newest fold of the log, immutable and numbered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Vector

from .arms import Arm, about, arms_at
from .database import Database
from .sealing import sealed
from .settings import Settings, checked

THERE = "status <> 'deleted'"


class ServedExperiment(NamedTuple):
    """An experiment as it was created, and whether it is running."""

    id: int
    name: str
    status: str  # running, paused or deleted
    created: float
    settings: Settings
    seed: bytes


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
        found = hashlib.sha256(b"%d\0" % self.watermark)
        found.update(about(self.arms).written)
        found.update(b"\0")
        found.update(self.sums.tobytes())
        return found.hexdigest()


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


def versions(database: Database) -> dict[int, tuple[int, str]]:
    """Return the newest version of each experiment that is there, and its status."""
    sql = f"SELECT e.id, n.version, e.status FROM experiments e JOIN statistics n ON n.experiment = e.id WHERE {THERE}"
    return {number: (version, status) for number, version, status in database.rows(sql)}


def newest_named(database: Database, name: str) -> Snapshot | None:
    """Return the newest snapshot of the experiment of a name, if there is one."""
    found = experiments(database, THERE + " AND name = ?", (name,))
    return newest(database, found[0]) if found else None


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
