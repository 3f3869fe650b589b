"""What is done with an experiment, beside the fast routes."""

from __future__ import annotations

from typing import Any

from msgspec import structs
from starlette.concurrency import run_in_threadpool

from fairx import rules
from fairx.errors import FairxError
from fairx.rules import InvalidValue
from fairx.store import scratch
from fairx.store.archives.erasing import prepared
from fairx.store.arms import REMOVED
from fairx.store.errors import NotFound, Overloaded, Unavailable
from fairx.store.experiments import Changes, change_arms, create, erase_named, set_status
from fairx.store.identity import is_ours
from fairx.store.logbook import export
from fairx.store.seals import seal_key
from fairx.store.settings import Settings, checked
from fairx.store.tokens import revoke_tokens_of

from . import answers, requests, views
from .audits import Question
from .calls import Bytes, Call


async def create_experiment(call: Call) -> Any:
    """Create an experiment."""
    asked: requests.NewExperiment = call.body
    call.runtime.limits.check("arms", len(asked.arms))
    call.runtime.limits.check("dimension", asked.dimension)
    if asked.name not in call.runtime.deciders:  # created again, it is the same one
        call.runtime.limits.check("experiments", len(call.runtime.deciders) + 1)
    if len(set(asked.arms)) < len(asked.arms):
        raise InvalidValue("arms", "be distinct")
    call.runtime.limits.check("letters", max(map(len, asked.arms)), "arms")
    settings = _settings(asked)
    call.runtime.limits.check("dimension", settings.dimension, "features")
    snapshot = await call.runtime.change(
        lambda database: create(
            database, asked.name, asked.arms, settings, call.runtime.clock(), call.grant.name
        )
    )
    await call.runtime.hold(snapshot, new=True)
    return views.experiment(snapshot)


def _settings(asked: requests.NewExperiment) -> Settings:
    try:
        return checked(structs.asdict(asked))
    except InvalidValue:
        raise
    except ValueError as error:
        raise InvalidValue("policy", f"be one that can be served: {error}") from None


async def list_experiments(call: Call) -> Any:
    """List the experiments that this token may read."""
    found = views.readable(call.runtime.deciders, call.grant)
    return answers.Experiments([views.experiment(snapshot) for snapshot in found])


async def get_experiment(call: Call) -> Any:
    """Return an experiment."""
    return views.experiment(call.runtime.decider(call.name).snapshot)


async def change_experiment_arms(call: Call) -> Any:
    """Add, pause, resume and remove arms."""
    asked, decider = call.body, call.runtime.decider(call.name)
    there = sum(arm.status != REMOVED for arm in decider.snapshot.arms)
    call.runtime.limits.check("arms", there + len(asked.add) - len(asked.remove))
    call.runtime.limits.check("letters", max(map(len, asked.add), default=0), "add")
    changes = Changes(asked.add, asked.pause, asked.resume, asked.remove)
    snapshot = await call.runtime.change(
        lambda database: change_arms(
            database, decider.snapshot.experiment, changes, call.runtime.clock(), call.grant.name
        )
    )
    call.runtime.decider(call.name)  # it may have been deleted meanwhile
    await call.runtime.hold(snapshot)
    return views.experiment(snapshot)


async def pause(call: Call) -> Any:
    """Make no more decisions; rewards are still taken in."""
    return await _set_status(call, "paused")


async def resume(call: Call) -> Any:
    """Make decisions again."""
    return await _set_status(call, "running")


async def delete(call: Call) -> Any:
    """End an experiment with its tokens, and free its name; its log stays in the store."""
    await _set_status(call, "deleted")


async def get_decision(call: Call) -> Any:
    """Return a decision with its rewards."""
    snapshot, number = call.runtime.decider(call.name).snapshot, call.path["decision"]
    if not is_ours(call.runtime.secret, snapshot.experiment.id, number):
        raise NotFound(f"decision {number!r} does not exist in {call.name!r}")
    return await call.runtime.read(lambda database: views.decision(database, snapshot, number))


async def status(call: Call) -> Any:
    """Return counts of decisions and rewards, arm by arm."""
    return await call.audits.counts(call.name)


async def audit(call: Call) -> Any:
    """Compare the exposure of each arm with what its merit earns."""
    given = {name: rules.number(name, _float(name, text)) for name, text in call.query.items()}
    found = await call.audits.of(call.name, Question(**given))
    return _plain(found.audit) | {"snapshot": found.snapshot, "time": found.time}


async def export_log(call: Call) -> Any:
    """Return the decision log as Parquet."""
    runtime = call.runtime
    experiment, archive = runtime.decider(call.name).snapshot.experiment, runtime.archive
    if runtime.exports.locked():
        raise Overloaded("others export already: try again")
    folder = scratch.folder("export-")
    path = folder / "log.parquet"
    try:
        async with runtime.exports:
            await runtime.read(lambda database: export(database, experiment, path, archive))
    except BaseException:
        folder.rmdir()
        raise
    return Bytes("application/vnd.apache.parquet", path)


async def erase_unit(call: Call) -> Any:
    """Forget a unit, in deleted experiments of this name too: its name and contexts go."""
    runtime, about = call.runtime, (call.name, call.body.unit, call.runtime.clock())
    key = seal_key(runtime.secret)
    archives = await runtime.read(lambda found: prepared(found, *about, key, runtime.archive))
    try:
        count = await runtime.change(
            lambda database: erase_named(database, *about, call.grant.name, archives)
        )
    except Unavailable:  # the new files may be the ones that count: both stay
        raise
    except FairxError:
        archives.end(done=False)
        raise
    await run_in_threadpool(archives.end, done=True)
    return answers.Erased(count)


async def _set_status(call: Call, status: str) -> Any:
    experiment, now = call.runtime.decider(call.name).snapshot.experiment, call.runtime.clock()

    def write(database: Any) -> None:
        set_status(database, experiment, status, now, call.grant.name)
        if status == "deleted":
            revoke_tokens_of(database, experiment.name, now)
            database.announce(0)

    await call.runtime.change(write)
    await call.runtime.reload()
    return None if status == "deleted" else await get_experiment(call)


def _float(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidValue(name, f"be a number, not {text!r}") from None


def _plain(value: Any) -> Any:
    """Return a record and all that it holds as plain values; infinity is no JSON number."""
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return value
