"""`fairx serve`: secrets, logs, the server, a graceful stop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import hashlib
import json
import logging
import os
import secrets
import signal
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from fairx.files import sync_directory
from fairx.store import Store, located
from fairx.store.identity import check_secret

from .access import Access, new_token
from .limits import Limits

LOOPBACK = ("127.0.0.1", "::1", "localhost")
SHORTEST = 16  # characters of a secret
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


def secret_of(store: Store, file: Path | None) -> bytes:
    """Return the secret that signs decision ids: from FAIRX_SECRET, a file, or beside the store.

    A store on SQLite gets a file of its own, PATH.secret, made on first use. Processes that share
    a PostgreSQL must be given the same secret.
    """
    given = from_environment("FAIRX_SECRET") or (file.read_text("utf-8").strip() if file else "")
    if not given and store.path is None:
        raise ValueError(
            "FAIRX_SECRET must be set, or --secret-file given, with postgresql://: all processes "
            "sign decision ids with it"
        )
    if not given:
        assert store.path is not None
        file = store.path.with_name(store.path.name + ".secret")
        if store.path.exists() and not file.exists():
            raise ValueError(
                f"{file} must be there, with the secret that {store.path} was made with: "
                "bring it from where that was, or set FAIRX_SECRET"
            )
        given = _kept(file)
    if len(given) < SHORTEST:
        raise ValueError(f"the secret must have at least {SHORTEST} characters")
    return hashlib.sha256(given.encode()).digest()


def from_environment(name: str) -> str | None:
    """Return a secret from the environment, or from the file that NAME_FILE names."""
    file = os.environ.get(name + "_FILE")
    return os.environ.get(name) or (Path(file).read_text("utf-8").strip() if file else None)


def application(options: Options) -> Any:
    """Return the ASGI application of a store."""
    from .app import Application
    from .dashboard import pages
    from .live import Live

    if not options.auth and options.host not in LOOPBACK:
        raise ValueError(f"--no-auth must not be used on {options.host}: only on 127.0.0.1")
    store = located(options.store)
    secret = secret_of(store, options.secret_file)
    admin = from_environment("FAIRX_ADMIN_TOKEN")
    if admin is not None and len(admin) < SHORTEST:
        raise ValueError(f"FAIRX_ADMIN_TOKEN must have at least {SHORTEST} characters")
    access = Access(open_to_all=not options.auth, admin_token=admin, rate=options.limits.rate)
    _prepare(store, secret, first_token=options.auth and admin is None)
    live = Live(store, secret, access, options.limits, options.refresh)
    return Application(live, pages, None if options.auth else LOOPBACK)


def run(options: Options, app: Any = None) -> None:
    """Serve until told to stop; what was asked for before that is answered."""
    import uvicorn
    import uvloop

    logging.basicConfig(level=logging.INFO, handlers=[_handler()], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)  # the visitors of the demonstration
    # The writer waits for no longer than this when the event loop is busy.
    sys.setswitchinterval(0.0005)
    config = uvicorn.Config(
        app or application(options), host=options.host, port=options.port, access_log=False,
        log_config=None, timeout_graceful_shutdown=10, server_header=False, lifespan="on",
    )  # fmt: skip
    server = uvicorn.Server(config)
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # comes after a graceful stop, like ^C
    try:
        uvloop.run(_served(server, options))
    except KeyboardInterrupt:
        LOGGER.info("stopped")
    except SystemExit:
        raise OSError(
            f"cannot serve on {options.host}:{options.port}: see the line above"
        ) from None


async def _served(server: Any, options: Options) -> None:
    beside = asyncio.create_task(_beside(server, options))
    try:
        await server.serve()
    finally:
        gc.unfreeze()
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)


async def _beside(server: Any, options: Options) -> None:
    """Do what can be done when the service is up, and send visitors of our own."""
    while not server.started:
        await asyncio.sleep(0.05)
    gc.collect()
    gc.freeze()  # what is here now stays: looking through it again took tens of milliseconds
    if options.demo:
        await _visited(options)


async def _visited(options: Options) -> None:
    from .demo import traffic

    address = f"http://{options.host}:{options.port}"
    sys.stderr.write(f"fairx: the dashboard is at {address}/ (simulated traffic; Ctrl-C stops)\n")
    await traffic(address, from_environment("FAIRX_ADMIN_TOKEN"), seed=1)


class JsonLines(logging.Formatter):
    """Writes each event as a line of JSON."""

    STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "color_message", "taskName"}

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in self.STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _handler() -> logging.Handler:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    return handler


def _kept(path: Path) -> str:
    """Return the secret in a file that only its owner can read, made on first use."""
    if not path.exists():
        unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # another process was faster
            path.hardlink_to(unfinished)
        unfinished.unlink()
        sync_directory(path.parent)
    return path.read_text("utf-8").strip()


def _prepare(store: Store, secret: bytes, *, first_token: bool) -> None:
    """Check the secret; make a token for an administrator where there is none, and show it once."""
    database, token = store.writer(), None
    try:
        with database.transaction():
            check_secret(database, secret)
            sql = "SELECT id FROM tokens WHERE revoked IS NULL LIMIT 1"
            if first_token and not database.rows(sql):
                number, token, digest = new_token()
                row = (number, "first", "admin", None, digest, time.time())
                database.rows("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, NULL)", row)
    finally:
        database.close()
    if token:
        sys.stderr.write(f"fairx: administrator's token, shown once: {token}\n")
