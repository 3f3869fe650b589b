"""What is done with the service as a whole: health, counts, the record of actions, tokens."""

from __future__ import annotations

from typing import Any

from fairx.store import tokens
from fairx.store.experiments import note

from . import answers, requests, views
from .access import new_token
from .calls import Bytes, Call


async def healthz(call: Call) -> Any:
    """Say that the process is alive."""
    return answers.Health("ok")


async def readyz(call: Call) -> Any:
    """Say whether decisions can be made and written, by writing something."""
    await call.runtime.probe()
    return answers.Health("ready")


async def metrics(call: Call) -> Any:
    """Return counts as Prometheus reads them."""
    now = call.runtime.clock()
    for name, decider in call.runtime.deciders.items():
        call.runtime.metrics.snapshot_age.labels(name).set(now - decider.snapshot.time)
    call.runtime.metrics.queue.set(call.runtime.queued)
    call.runtime.metrics.clock_apart.set(getattr(call.runtime.clock, "apart", 0.0))
    return Bytes("text/plain; version=0.0.4; charset=utf-8", call.runtime.metrics.page())


async def actions(call: Call) -> Any:
    """Return the record of administrative actions, newest first."""
    return await call.runtime.read(views.actions)


async def create_token(call: Call) -> Any:
    """Create a token; its secret is shown now and never again."""
    asked: requests.NewToken = call.body
    number, token, digest = new_token()
    now = call.runtime.clock()
    made = tokens.Token(number, asked.name, asked.role, asked.experiment, digest, now)

    def write(database: Any) -> None:
        tokens.create_token(database, made)
        note(database, now, call.grant.name, "create token", asked.experiment,
             {"id": number, "name": asked.name, "role": asked.role})  # fmt: skip
        call.runtime.access.load(database)
        database.announce(0)

    await call.runtime.change(write)
    return answers.Token(number, asked.name, asked.role, asked.experiment, now, token)


async def list_tokens(call: Call) -> Any:
    """List the tokens that are valid, without their secrets."""
    return await call.runtime.read(views.tokens)


async def revoke_token(call: Call) -> Any:
    """Make a token invalid."""
    number, now = call.path["id"], call.runtime.clock()

    def write(database: Any) -> None:
        tokens.revoke_token(database, number, now)
        note(database, now, call.grant.name, "revoke token", None, {"id": number})
        call.runtime.access.load(database)
        database.announce(0)

    await call.runtime.change(write)
