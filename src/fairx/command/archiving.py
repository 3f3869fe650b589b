"""`fairx archive`: what is old moves from the store to files of Parquet."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
import time
from pathlib import Path

from .keeping import add_store

DAY = 86_400.0  # seconds
DESCRIPTION = """\
Move decisions that were mature DAYS ago, with their rewards, shown events and snapshots, and actions of before,
from a store to files of Parquet. Sums, counts and the ids of decisions stay; audits, exports, verification and erasure
reach the files. With SQLite the service must be stopped, with PostgreSQL it may run. Cut off at any moment, nothing is
lost: give the same command again."""


def add_archive(parser: argparse.ArgumentParser) -> None:
    """Add what `fairx archive` takes."""
    parser.description = DESCRIPTION
    add_store(parser)
    parser.add_argument("--days", type=float, required=True, metavar="DAYS",
                        help="what was mature so long ago is moved")  # fmt: skip
    parser.add_argument("--to", type=Path, metavar="FOLDER",
                        help="(with SQLite: PATH.archive; else where the last one went)")  # fmt: skip
    parser.add_argument("--secret-file", type=Path, metavar="FILE",
                        help="the secret of the store; or FAIRX_SECRET, or PATH.secret beside SQLite")  # fmt: skip
    parser.set_defaults(run=run_archive)


def run_archive(options: argparse.Namespace) -> int:
    """Archive what is old."""
    from tqdm import tqdm

    from fairx import rules
    from fairx.service.secrecy import secret_of
    from fairx.store import located
    from fairx.store.archives.filing import settled
    from fairx.store.archives.moving import Archivist
    from fairx.store.seals import keyed

    days = rules.number("days", options.days, low=0)
    store = located(options.store)
    if store.path is not None and not store.path.is_file():
        raise FileNotFoundError(f"there is no store at {store.path}")
    secret = secret_of(store, options.secret_file)
    database, now = keyed(store, secret), time.time()
    try:
        beside = store.path and store.path.with_name(f"{store.path.name}.archive")
        folder = settled(database, options.to, beside)
        with tqdm(unit=" decisions", delay=2, leave=False) as bar:
            found = Archivist(database, secret, folder, now).run(now - days * DAY, bar.update)
    finally:
        database.close()
    print(
        f"{found.decisions:,} decisions and {found.actions:,} actions moved to {folder}, {found.files:,} files"
    )
    if found.unnamed:
        print(
            f"{found.unnamed:,} files that the store does not name were moved to {folder / 'not-named'}: a"
        )
        print(
            "run that was cut off left them, or one after the backup that this store was restored from"
        )
    return 0
