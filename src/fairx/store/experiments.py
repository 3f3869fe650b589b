"""Experiments and their arms: every change is on record, and makes a new snapshot."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from .archives.erasing import NOTHING, Erasure, check_known, exchange
from .arms import ACTIVE, PAUSED, REMOVED, Arm, arms_at
from .database import Database, add
from .decisions import SEALED
from .errors import Conflict, NotFound
from .folding import keep_sums
from .sealing import ALL, sealed
from .settings import Settings, check_floor, dumped, written
from .snapshots import (
    ServedExperiment,
    Snapshot,
    experiments,
    newest,
    newest_named,
    publish,
)
from .statistics import empty, widened


class Changes(NamedTuple):
    """Arms to add, pause, resume and remove: all of it happens, or nothing."""

    add: Sequence[str] = ()
    pause: Sequence[str] = ()
    resume: Sequence[str] = ()
    remove: Sequence[str] = ()


def create(
    database: Database, name: str, arms: Sequence[str], settings: Settings, time: float, actor: str
) -> Snapshot:
    """Create an experiment; return its first snapshot, or the newest where it was created before."""
    check_floor(settings.floor, len(arms))
    there = newest_named(database, name)
    if there is not None:
        return _same(database, there, arms, settings)
    seed = secrets.token_bytes(16)
    insert = "INSERT INTO experiments (name, settings, status, created) VALUES (?, ?, 'running', ?) RETURNING id"
    text = dumped(settings, seed.hex())
    ((number,),) = database.rows(insert, (name, text, time))
    sealed(database, "experiments", ALL, [(number, name, text, "running", time)])
    experiment = ServedExperiment(number, name, "running", time, settings, seed)
    sums = empty(settings, len(arms))
    database.rows("INSERT INTO statistics VALUES (?, 0, 0, ?)", (number, sums.tobytes()))
    snapshot = Snapshot(experiment, 1, 0, time, tuple(Arm(arm, ACTIVE) for arm in arms), sums)
    _write_arms(database, snapshot, dict(enumerate(snapshot.arms)))
    publish(database, snapshot)
    note(database, time, actor, "create", name, {"arms": list(arms)})
    return snapshot


def change_arms(
    database: Database, experiment: ServedExperiment, changes: Changes, time: float, actor: str
) -> Snapshot:
    """Add, pause, resume and remove arms; return the new snapshot."""
    experiment = _locked(database, experiment)
    before = newest(database, experiment)
    after = _changed(before.arms, changes)
    active = sum(arm.status == ACTIVE for arm in after)
    if not active:
        raise Conflict("an experiment must keep an active arm: pause or delete it instead")
    check_floor(experiment.settings.floor, active)
    sums = widened(experiment.settings, before.sums, len(after))
    snapshot = Snapshot(experiment, before.version + 1, before.watermark, time, after, sums)
    different = {
        number: arm
        for number, arm in enumerate(after)
        if number >= len(before.arms) or before.arms[number] != arm
    }
    _write_arms(database, snapshot, different)
    publish(database, snapshot)
    detail = {name: list(names) for name, names in changes._asdict().items() if names}
    note(database, time, actor, "arms", experiment.name, detail)
    return snapshot


def set_status(
    database: Database, experiment: ServedExperiment, status: str, time: float, actor: str
) -> None:
    """Pause, resume or delete an experiment. A deleted one keeps its log; its name is free."""
    _locked(database, experiment)
    sql = "SELECT id, name, settings, status, created FROM experiments WHERE id = ?"
    ((*about, before, created),) = database.rows(sql, (experiment.id,))
    database.rows("UPDATE experiments SET status = ? WHERE id = ?", (status, experiment.id))
    sealed(database, "experiments", ALL, [(*about, before, created)], -1)
    sealed(database, "experiments", ALL, [(*about, status, created)])
    database.announce(experiment.id)
    note(database, time, actor, status, experiment.name, {})


def erase_named(
    database: Database, name: str, unit: str, time: float, actor: str, archives: Erasure = NOTHING
) -> int:
    """Forget a unit in all experiments that have, or had, a name: deleted ones keep their log."""
    found = experiments(database, "name = ?", (name,))
    if not found:
        raise NotFound(f"experiment {name!r} does not exist")
    for each in found:
        lock_experiment(database, each)
    check_known(database, name, archives)
    return sum(erase(database, each, unit, time, actor, archives) for each in found)


def erase(
    database: Database, experiment: ServedExperiment, unit: str, time: float, actor: str,
    archives: Erasure = NOTHING,
) -> int:  # fmt: skip
    """Forget a unit and its contexts. What was learned from them stays, as sums over many."""
    lock_experiment(database, experiment)
    where, line = "experiment = ? AND unit = ?", SEALED
    select = f"SELECT {line} FROM decisions WHERE {where}"
    sealed(database, "decisions", experiment.id, database.rows(select, (experiment.id, unit)), -1)
    update = f"UPDATE decisions SET unit = NULL, contexts = NULL, asked = ?, erased = ? WHERE {where} RETURNING place, {line}"
    found = database.rows(update, (b"", time, experiment.id, unit))
    sealed(database, "decisions", experiment.id, [row[1:] for row in found])
    rows = [row[:1] for row in found]
    count = sum(place in (None, 1) for (place,) in rows)  # a slate is one decision
    count += exchange(database, experiment.id, archives)
    # The log alone can no longer rebuild these sums: keep them, for `fairx verify`.
    if count and experiment.settings.dimension:
        keep_sums(database, newest(database, experiment))
    note(database, time, actor, "erase", experiment.name, {"decisions": count})
    return count


def note(
    database: Database, time: float, actor: str, action: str, experiment: str | None, detail: Any
) -> None:
    """Add to the record of administrative actions."""
    sql = "INSERT INTO actions (time, actor, action, experiment, detail) VALUES (?, ?, ?, ?, ?)"
    row = (time, actor, action, experiment, json.dumps(detail))
    database.rows(sql, row)
    sealed(database, "actions", ALL, [row])


def _same(database: Database, there: Snapshot, arms: Sequence[str], settings: Settings) -> Snapshot:
    """Return what is there, if it was created by the same request: the answer to that got lost."""
    experiment = there.experiment
    first = [arm.name for arm in arms_at(database, experiment.id, 1)]
    if first != list(arms) or written(experiment.settings) != written(settings):
        raise Conflict(f"name must be new, but experiment {experiment.name!r} exists", "name")
    return there


def _locked(database: Database, experiment: ServedExperiment) -> ServedExperiment:
    """Return an experiment as it is, which nobody else changes until the end of the transaction."""
    lock_experiment(database, experiment)
    for each in experiments(database):
        if each.id == experiment.id:
            return each
    raise NotFound(f"experiment {experiment.name!r} does not exist")


def lock_experiment(database: Database, experiment: ServedExperiment) -> None:
    """Keep others from folding, changing and erasing an experiment, until the transaction ends."""
    sql = "SELECT version FROM statistics WHERE experiment = ?"
    database.rows(sql + database.lock, (experiment.id,))


def _changed(arms: tuple[Arm, ...], changes: Changes) -> tuple[Arm, ...]:
    found = {arm.name: arm.status for arm in arms}
    for name in changes.add:
        if found.get(name, REMOVED) != REMOVED:
            raise Conflict(f"arm {name!r} exists already")
        found[name] = ACTIVE  # a removed arm comes back with what was learned of it
    for names, status in (
        (changes.pause, PAUSED), (changes.resume, ACTIVE), (changes.remove, REMOVED),
    ):  # fmt: skip
        for name in names:
            if found.get(name, REMOVED) == REMOVED:
                raise NotFound(f"arm {name!r} does not exist, or was removed")
            found[name] = status
    return tuple(Arm(name, status) for name, status in found.items())


def _write_arms(database: Database, snapshot: Snapshot, arms: dict[int, Arm]) -> None:
    key, version = snapshot.experiment.id, snapshot.version
    rows = [(key, version, number, arm.name, arm.status) for number, arm in arms.items()]
    add(database, "arms", rows)
    sealed(database, "arms", key, rows)
