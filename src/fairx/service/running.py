"""`fairx serve`: the store made ready, the server, a graceful stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from fairx.store import Store, located
from fairx.store.seals import keyed
from fairx.store.tokens import Token, create_token, has_tokens

from .access import ADMIN, Access, new_token
from .connections import Bounded
from .json_lines import handler
from .limits import Limits
from .secrecy import SHORTEST, from_environment, secret_of
from .workers import Workers, listening

LOOPBACK = ("127.0.0.1", "::1", "localhost")
LOGGER = logging.getLogger("fairx")


class Options(NamedTuple):
    """How to serve."""

    store: str
    host: str = "127.0.0.1"
    port: int = 8000
    auth: bool = True
    refresh: float = 0.25
    limits: Limits = Limits()
    secret_file: Path | None = None
    demo: bool = False
    access_log: bool = False
    traces: bool = False
    workers: int = 1
    archive: Path | None = None


def application(options: Options) -> Any:
    """Return the ASGI application of a store."""
    from .app import Application
    from .dashboard import pages
    from .observing import Observer
    from .runtime import Runtime
    from .tracing import tracer

    if not options.auth and options.host not in LOOPBACK:
        raise ValueError(f"--no-auth must not be used on {options.host}: only on 127.0.0.1")
    store = located(options.store)
    secret = secret_of(store, options.secret_file)
    admin = from_environment("FAIRX_ADMIN_TOKEN")
    if admin is not None and len(admin) < SHORTEST:
        raise ValueError(f"FAIRX_ADMIN_TOKEN must have at least {SHORTEST} characters")
    access = Access(open_to_all=not options.auth, admin_token=admin, rate=options.limits.rate)
    _prepare(store, secret, first_token=options.auth and admin is None)
    runtime = Runtime(
        store, secret, access, options.limits, options.refresh, archive=options.archive
    )
    observer = Observer(options.access_log, tracer() if options.traces else None)
    return Application(runtime, pages, None if options.auth else LOOPBACK, observer)


def run(options: Options) -> None:
    """Serve until told to stop; what was asked for before that is answered."""
    logging.basicConfig(level=logging.INFO, handlers=[handler()], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the visitors of the demonstration
    if options.workers == 1:
        serve(options)
        return
    if not options.store.startswith("postgres"):
        raise ValueError(
            f"--workers must be 1 with SQLite, not {options.workers}: one process writes the file"
        )
    application(options)  # what is wrong is said once, and the first token too
    with listening(options.host, options.port) as shared:
        LOGGER.info("serving", extra={"workers": options.workers, "port": options.port})
        Workers(options.workers, serve, options, shared).run()


def serve(options: Options, shared: socket.socket | None = None, app: Any = None) -> None:
    """Serve in this process, at a socket that others may share."""
    import uvicorn

    logging.basicConfig(level=logging.INFO, handlers=[handler()], force=True)
    # The writer waits for no longer than this when the event loop is busy.
    sys.setswitchinterval(0.0005)
    app = app or application(options)
    app.runtime.when_compiled(keep_what_is_here)
    config = uvicorn.Config(
        app, host=options.host, port=options.port, access_log=False,
        log_config=None, timeout_graceful_shutdown=10, server_header=False, lifespan="on",
        proxy_headers=False,  # nothing here asks where a request came from
        http=partial(Bounded, app.runtime.load, app.quick), ws="none",  # type: ignore[arg-type] # it asks no more
    )  # fmt: skip
    server = uvicorn.Server(config)
    # Both come again after a graceful stop.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        event_loop().run(_served(server, options, shared))
    except KeyboardInterrupt:
        LOGGER.info("stopped")
    except SystemExit:
        raise OSError(
            f"cannot serve on {options.host}:{options.port}: see the line above"
        ) from None


def event_loop() -> Any:
    """Return the module that runs the event loop: uvloop, which Windows has not, or Python's."""
    try:
        import uvloop
    except ImportError:
        return asyncio
    return uvloop


async def _served(server: Any, options: Options, shared: socket.socket | None) -> None:
    beside = asyncio.create_task(_beside(server, options))
    try:
        await server.serve(None if shared is None else [shared])
    finally:
        gc.unfreeze()
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)


async def _beside(server: Any, options: Options) -> None:
    """Do what can be done when the service is up, and send visitors of our own."""
    while not server.started:
        await asyncio.sleep(0.05)
    keep_what_is_here()
    if options.demo:
        await _visited(options)


def keep_what_is_here() -> None:
    """Spare the garbage collector what stays: looking through it again took tens of milliseconds.

    Called again when a policy was compiled: the compiler alone is 90,000 objects.
    """
    gc.collect()
    gc.freeze()


async def _visited(options: Options) -> None:
    from .demo import traffic

    address = f"http://{options.host}:{options.port}"
    sys.stderr.write(f"fairx: the dashboard is at {address}/ (simulated traffic; Ctrl-C stops)\n")
    await traffic(address, from_environment("FAIRX_ADMIN_TOKEN"), seed=1)


def _prepare(store: Store, secret: bytes, *, first_token: bool) -> None:
    """Check the secret; make a token for an administrator where there is none, and show it once."""
    database, token = keyed(store, secret), None
    try:
        with database.transaction():
            if first_token and not has_tokens(database):
                number, token, digest = new_token()
                create_token(database, Token(number, "first", ADMIN, None, digest, time.time()))
    finally:
        database.close()
    if token:
        sys.stderr.write(f"fairx: administrator's token, shown once: {token}\n")
