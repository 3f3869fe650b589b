"""What is done with the service as a whole: health, counts, the record of actions, tokens."""

from __future__ import annotations

from typing import Any

from fairx.store import tokens
from fairx.store.experiments import note

from . import answers, requests, views
from .access import new_token
from .calls import Bytes, Call
from .gauges import measure


async def healthz(call: Call) -> Any:
    """Say that the process is alive."""
    return answers.Health("ok")


async def readyz(call: Call) -> Any:
    """Say whether decisions can be made and written, by writing something."""
    await call.runtime.probe()
    return answers.Health("ready")


async def metrics(call: Call) -> Any:
    """Return counts as Prometheus reads them."""
    await measure(call.runtime)
    return Bytes("text/plain; version=0.0.4; charset=utf-8", call.runtime.metrics.page())


async def actions(call: Call) -> Any:
    """Return the record of administrative actions, newest first."""
    return await call.runtime.read(views.actions)


async def create_token(call: Call) -> Any:
    """Create a token; its secret is shown now and never again."""
    asked: requests.NewToken = call.body
    made, token = _made(call, asked.name, asked.role, asked.experiment, asked.lifetime_s)

    def write(database: Any) -> None:
        tokens.create_token(database, made)
        _noted(call, database, "create token", made)

    await call.runtime.change(write)
    return views.token(made, token)


async def rotate_token(call: Call) -> Any:
    """Create a token that may do what another may, and have that one expire."""
    asked: requests.Rotation = call.body
    number, now = call.path["id"], call.runtime.clock()

    def write(database: Any) -> Any:
        old = tokens.end_token(database, number, now + asked.grace_s)
        made, token = _made(call, old.name, old.role, old.experiment, asked.lifetime_s)
        tokens.create_token(database, made)
        _noted(call, database, "rotate token", made, {"replaces": number})
        return views.token(made, token)

    return await call.runtime.change(write)


def _made(
    call: Call, name: str, role: str, experiment: str | None, lifetime: float | None
) -> tuple[tokens.Token, str]:
    """Return a new token as it is kept, and as it is handed out."""
    (number, token, digest), now = new_token(), call.runtime.clock()
    expires = None if lifetime is None else now + lifetime
    return tokens.Token(number, name, role, experiment, digest, now, expires), token


def _noted(
    call: Call, database: Any, action: str, made: tokens.Token, more: dict[str, str] | None = None
) -> None:
    """Note that a token was made, and have all processes know it."""
    about = {"id": made.id, "name": made.name, "role": made.role} | (more or {})
    note(database, made.created, call.grant.name, action, made.experiment, about)
    call.runtime.access.load(database)
    database.announce(0)


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
