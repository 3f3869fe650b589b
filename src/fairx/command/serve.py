"""`fairx serve` and what goes with it: verify, backup, restore."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Serve merit-fair decisions over HTTP. Everything acknowledged is durable; a reward counts once; every
decision can be made again from the log."""
SHOWN = 20  # problems


def add_to(subparsers: Any) -> None:
    """Add the subcommands."""
    serve = subparsers.add_parser(
        "serve", help="serve decisions over HTTP", description=DESCRIPTION
    )
    serve.add_argument(
        "--store", metavar="ADDRESS",
        help="sqlite:///PATH or postgresql://... (sqlite:///fairx.db, fairx-demo.db with --demo)",
    )  # fmt: skip
    serve.add_argument("--host", default="127.0.0.1", help="(127.0.0.1)")
    serve.add_argument("--port", type=int, default=8000, help="(8000)")
    serve.add_argument("--no-auth", action="store_true", help="ask for no token; on loopback only")
    serve.add_argument("--secret-file", type=Path, metavar="FILE",
                       help="signs decision ids; or FAIRX_SECRET, or PATH.secret beside SQLite")  # fmt: skip
    serve.add_argument("--refresh", type=float, default=0.25, metavar="SECONDS",
                       help="between snapshots (0.25)")  # fmt: skip
    serve.add_argument("--demo", action="store_true",
                       help="two experiments with simulated traffic, without tokens")  # fmt: skip
    _add_limits(serve)
    serve.set_defaults(run=run_serve)
    _add_keeping(subparsers)


def run_serve(options: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from fairx import rules

    try:
        from fairx.service.limits import Limits, checked
        from fairx.service.running import Options, run
    except ImportError as error:
        raise ImportError(f"fairx serve needs {error.name}: pip install 'fairx[serve]'") from error
    limits = checked(Limits(*(getattr(options, f"limit_{name}") for name in Limits._fields)))
    refresh = rules.positive("refresh", options.refresh)
    store = options.store or f"sqlite:///{'fairx-demo' if options.demo else 'fairx'}.db"
    auth = not (options.no_auth or options.demo)
    where = (options.host, options.port)
    run(Options(store, *where, auth, refresh, limits, options.secret_file, options.demo))
    return 0


def _add_limits(serve: argparse.ArgumentParser) -> None:
    from fairx.service.limits import Limits

    group = serve.add_argument_group("limits, beyond which requests are refused")
    for name, value in Limits()._asdict().items():
        group.add_argument(
            f"--limit-{name.replace('_', '-')}", type=type(value), default=value, metavar="N",
            help=f"({value:,})",
        )  # fmt: skip


def run_verify(options: argparse.Namespace) -> int:
    """Check every line of the log."""
    from tqdm import tqdm

    from fairx.store import located, verify

    store = located(options.store)
    database = store.reader()
    with tqdm(unit=" decisions", delay=2, leave=False) as bar, database.transaction():
        found = verify(database, _secret(store, options.secret_file), bar.update)
    database.close()
    for problem in found.problems[:SHOWN]:
        print(f"problem: {problem}")
    if len(found.problems) > SHOWN:
        print(f"and {len(found.problems) - SHOWN:,} more")
    print(
        f"{found.decisions - found.erased:,} decisions of {found.experiments} experiments made again, "
        f"{found.snapshots:,} snapshots rebuilt from {found.matured:,} mature decisions: "
        f"{len(found.problems):,} problems"
    )
    if found.erased:
        print(f"{found.erased:,} decisions could not be made again: their contexts were erased")
    return 1 if found.problems else 0


def run_backup(options: argparse.Namespace) -> int:
    """Copy the store while it is in use."""
    from fairx.store import located
    from fairx.store.copying import backup

    size = backup(located(options.store), options.out)
    print(f"{options.out}: {size:,} bytes. Keep the secret too: without it, rewards of decisions")
    print("that are in it would be refused (FAIRX_SECRET, --secret-file, or PATH.secret)")
    return 0


def run_restore(options: argparse.Namespace) -> int:
    """Put a backup in the place of the store."""
    from fairx.store import located
    from fairx.store.copying import restore

    aside = restore(options.backup, located(options.store), replace=options.replace)
    print(f"{options.store} is as it was when {options.backup} was made")
    if aside is not None:
        print(f"what was there before is now {aside}")
    return 0


def _add_keeping(subparsers: Any) -> None:
    for name, run, words in (
        ("verify", run_verify, "make every decision of a store's log again, and compare"),
        ("backup", run_backup, "copy a store on SQLite while it is in use"),
        ("restore", run_restore, "put a backup in the place of a store on SQLite"),
    ):
        command = subparsers.add_parser(name, help=words, description=words)
        if name == "restore":
            command.add_argument("backup", type=Path, metavar="BACKUP")
            command.add_argument(
                "--replace", action="store_true", help="move the store there aside"
            )
        command.add_argument(
            "--store", required=True, metavar="ADDRESS", help="sqlite:///PATH or postgresql://..."
        )
        if name == "backup":
            command.add_argument("out", type=Path, metavar="OUT")
        if name == "verify":
            command.add_argument("--secret-file", type=Path, metavar="FILE",
                                 help="check signatures too; or FAIRX_SECRET")  # fmt: skip
        command.set_defaults(run=run)


def _secret(store: Any, file: Path | None) -> bytes | None:
    """Return the secret, where there is one to be found."""
    from fairx.service.secrecy import secret_of

    there = file or os.environ.get("FAIRX_SECRET")
    beside = store.path is not None and store.path.with_name(store.path.name + ".secret").exists()
    return secret_of(store, file) if there or beside else None
