"""All routes but the hot ones: what each takes, gives and needs is said once, in a table."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from fairx import rules
from fairx.store.errors import NotFound, Unavailable
from fairx.store.experiments import Changes, change_arms, create, erase, note, set_status
from fairx.store.identity import is_ours
from fairx.store.settings import Settings, checked

from . import bodies, views
from .access import ADMIN, DECIDE, READ, REWARD, Grant, new_token
from .audits import Audits, Question
from .live import Live
from .logbook import export


class Call(NamedTuple):
    """A request, with what was found out about it."""

    live: Live
    audits: Audits
    grant: Grant
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.path["name"]


class Bytes(NamedTuple):
    """An answer that is not JSON: bytes, or a file to be sent and removed."""

    kind: str
    body: bytes | Path


class Route(NamedTuple):
    """A route.

    `status` is that of success; `takes` and `gives` are types of bodies, several where it depends
    on the request.
    """

    method: str
    path: str
    role: str | None  # None: anyone
    summary: str
    handler: Callable[[Call], Awaitable[Any]] | None  # None: a hot one
    takes: Any = None
    gives: Any = None
    status: int = 200
    query: tuple[str, ...] = ()


async def create_experiment(call: Call) -> Any:
    """Create an experiment."""
    asked: bodies.NewExperiment = call.body
    call.live.limits.check("arms", len(asked.arms))
    call.live.limits.check("dimension", asked.dimension)
    call.live.limits.check("experiments", len(call.live.deciders) + 1)
    if len(set(asked.arms)) < len(asked.arms):
        raise ValueError("arms must be distinct")
    call.live.limits.check("letters", max(map(len, asked.arms)), "arms")
    settings = _settings(asked)
    snapshot = await call.live.change(
        lambda database: create(
            database, asked.name, asked.arms, settings, call.live.clock(), call.grant.name
        )
    )
    call.live.hold(snapshot)
    return views.experiment(snapshot)


def _settings(asked: bodies.NewExperiment) -> Settings:
    try:
        return checked(structs.asdict(asked))
    except ValueError as error:
        if " must " in str(error):
            raise
        raise ValueError(f"policy must be one that can be served: {error}") from None


async def list_experiments(call: Call) -> Any:
    """List the experiments that this token may read."""
    found = [
        views.experiment(decider.snapshot)
        for name, decider in sorted(call.live.deciders.items())
        if call.grant.experiment in (None, name)
    ]
    return bodies.Experiments(found)


async def get_experiment(call: Call) -> Any:
    """Return an experiment."""
    return views.experiment(call.live.decider(call.name).snapshot)


async def change_experiment_arms(call: Call) -> Any:
    """Add, pause, resume and remove arms."""
    asked, decider = call.body, call.live.decider(call.name)
    call.live.limits.check("arms", len(decider.snapshot.arms) + len(asked.add))
    call.live.limits.check("letters", max(map(len, asked.add), default=0), "add")
    changes = Changes(asked.add, asked.pause, asked.resume, asked.remove)
    snapshot = await call.live.change(
        lambda database: change_arms(
            database, decider.snapshot.experiment, changes, call.live.clock(), call.grant.name
        )
    )
    call.live.hold(snapshot)
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
    snapshot, number = call.live.decider(call.name).snapshot, call.path["decision"]
    if not is_ours(call.live.secret, snapshot.experiment.id, number):
        raise NotFound(f"decision {number!r} does not exist in {call.name!r}")
    return await call.live.read(lambda database: views.decision(database, snapshot, number))


async def status(call: Call) -> Any:
    """Return counts of decisions and rewards, arm by arm."""
    snapshot, now = call.live.decider(call.name).snapshot, call.live.clock()
    return await call.live.read(lambda database: views.status(database, snapshot, now))


async def audit(call: Call) -> Any:
    """Compare the exposure of each arm with what its merit earns."""
    given = {name: rules.number(name, _float(name, text)) for name, text in call.query.items()}
    found = await call.audits.of(call.name, Question(**given))
    return _plain(found.audit) | {"snapshot": found.snapshot, "time": found.time}


async def export_log(call: Call) -> Any:
    """Return the decision log as Parquet."""
    experiment = call.live.decider(call.name).snapshot.experiment
    folder = Path(tempfile.mkdtemp(prefix="fairx-export-"))
    path = folder / "log.parquet"
    try:
        await call.live.read(lambda database: export(database, experiment, path))
    except BaseException:
        folder.rmdir()
        raise
    return Bytes("application/vnd.apache.parquet", path)


async def erase_unit(call: Call) -> Any:
    """Forget a unit: its name and contexts go, the decisions stay."""
    experiment = call.live.decider(call.name).snapshot.experiment
    count = await call.live.change(
        lambda database: erase(
            database, experiment, call.body.unit, call.live.clock(), call.grant.name
        )
    )
    return bodies.Erased(count)


async def healthz(call: Call) -> Any:
    """Say that the process is alive."""
    return bodies.Health("ok")


async def readyz(call: Call) -> Any:
    """Say whether decisions can be made and written."""
    if not call.live.healthy:
        raise Unavailable("the store cannot be reached")
    return bodies.Health("ready")


async def metrics(call: Call) -> Any:
    """Return counts as Prometheus reads them."""
    now = call.live.clock()
    for name, decider in call.live.deciders.items():
        call.live.metrics.snapshot_age.labels(name).set(now - decider.snapshot.time)
    call.live.metrics.queue.set(call.live.queued)
    return Bytes("text/plain; version=0.0.4; charset=utf-8", call.live.metrics.page())


async def actions(call: Call) -> Any:
    """Return the record of administrative actions, newest first."""
    return await call.live.read(views.actions)


async def create_token(call: Call) -> Any:
    """Create a token; its secret is shown now and never again."""
    asked: bodies.NewToken = call.body
    number, token, digest = new_token()
    now = call.live.clock()
    row = (number, asked.name, asked.role, asked.experiment, digest, now)

    def write(database: Any) -> None:
        database.rows("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, NULL)", row)
        note(database, now, call.grant.name, "create token", asked.experiment,
             {"id": number, "name": asked.name, "role": asked.role})  # fmt: skip
        call.live.access.load(database)
        database.announce(0)

    await call.live.change(write)
    return bodies.Token(number, asked.name, asked.role, asked.experiment, now, token)


async def list_tokens(call: Call) -> Any:
    """List the tokens that are valid, without their secrets."""
    return await call.live.read(views.tokens)


async def revoke_token(call: Call) -> Any:
    """Make a token invalid."""
    number, now = call.path["id"], call.live.clock()
    if not number.isalnum():  # PostgreSQL takes no zeros in texts
        raise NotFound(f"token {number!r} does not exist")

    def write(database: Any) -> None:
        sql = "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL RETURNING id"
        if not database.rows(sql, (now, number)):
            raise NotFound(f"token {number!r} does not exist")
        note(database, now, call.grant.name, "revoke token", None, {"id": number})
        call.live.access.load(database)
        database.announce(0)

    await call.live.change(write)


async def _set_status(call: Call, status: str) -> Any:
    experiment, now = call.live.decider(call.name).snapshot.experiment, call.live.clock()

    def write(database: Any) -> None:
        set_status(database, experiment, status, now, call.grant.name)
        if status == "deleted":  # the next experiment of this name is another
            sql = "UPDATE tokens SET revoked = ? WHERE experiment = ? AND revoked IS NULL"
            database.rows(sql, (now, experiment.name))

    await call.live.change(write)
    await call.live.reload()
    return None if status == "deleted" else await get_experiment(call)


def _float(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, not {text!r}") from None


def _plain(value: Any) -> Any:
    """Return a record and all that it holds as plain values; infinity is no JSON number."""
    if hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return None
    return value


E = "/v1/experiments"
ROUTES = (
    Route("POST", E, ADMIN, "Create an experiment", create_experiment, bodies.NewExperiment, bodies.Experiment, 201),
    Route("GET", E, READ, "List experiments", list_experiments, gives=bodies.Experiments),
    Route("GET", E + "/{name}", READ, "Get an experiment", get_experiment, gives=bodies.Experiment),
    Route("DELETE", E + "/{name}", ADMIN, "Delete an experiment", delete, status=204),
    Route("POST", E + "/{name}/pause", ADMIN, "Pause an experiment", pause, gives=bodies.Experiment),
    Route("POST", E + "/{name}/resume", ADMIN, "Resume an experiment", resume, gives=bodies.Experiment),
    Route("POST", E + "/{name}/arms", ADMIN, "Change arms", change_experiment_arms, bodies.ArmChanges, bodies.Experiment),
    Route("POST", E + "/{name}/decide", DECIDE, "Decide", None, bodies.Decide, (bodies.Decided, bodies.DecidedSeveral)),
    Route("POST", E + "/{name}/shown", DECIDE, "Say what was shown", None, bodies.Shown, bodies.Results),
    Route("POST", E + "/{name}/rewards", REWARD, "Send rewards", None, bodies.Rewards, bodies.Results),
    Route("GET", E + "/{name}/decisions/{decision}", READ, "Get a decision", get_decision, gives=bodies.DecisionOut),
    Route("GET", E + "/{name}/status", READ, "Get counts", status, gives=bodies.Status),
    Route("GET", E + "/{name}/audit", READ, "Audit the exposure", audit, gives=dict[str, Any], query=("alpha", "low", "high")),
    Route("GET", E + "/{name}/export", READ, "Export the decision log", export_log, gives=Bytes),
    Route("POST", E + "/{name}/erase", ADMIN, "Forget a unit", erase_unit, bodies.Erase, bodies.Erased),
    Route("GET", "/healthz", None, "Is the process alive?", healthz, gives=bodies.Health),
    Route("GET", "/readyz", None, "Can it decide?", readyz, gives=bodies.Health),
    Route("GET", "/metrics", READ, "Counts for Prometheus", metrics, gives=Bytes),
    Route("GET", "/v1/actions", ADMIN, "List administrative actions", actions, gives=bodies.Actions),
    Route("POST", "/v1/tokens", ADMIN, "Create a token", create_token, bodies.NewToken, bodies.Token, 201),
    Route("GET", "/v1/tokens", ADMIN, "List tokens", list_tokens, gives=bodies.Tokens),
    Route("DELETE", "/v1/tokens/{id}", ADMIN, "Revoke a token", revoke_token, status=204),
)  # fmt: skip
