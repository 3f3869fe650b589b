"""`fairx verify`, `fairx backup` and `fairx restore`: keeping the store of a service."""
# ruff: noqa: T201 - a command prints

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SHOWN = 20  # problems
NO_SECRET = "give the secret (--secret-file, FAIRX_SECRET)"
NO_SEALS = "this store has no seals yet, fairx serve makes them when it next starts"


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add what `fairx verify` takes."""
    add_store(parser)
    parser.add_argument("--secret-file", type=Path, metavar="FILE",
                        help="check signatures too; or FAIRX_SECRET")  # fmt: skip
    parser.add_argument("--export", type=Path, metavar="FILE",
                        help="an export of before, which the store must not be behind")  # fmt: skip
    archive = parser.add_mutually_exclusive_group()
    archive.add_argument("--archive", type=Path, metavar="FOLDER",
                         help="where what `fairx archive` moved is (where it put it)")  # fmt: skip
    archive.add_argument("--without-archive", action="store_true",
                         help="check what is in the store, from the sums kept of what is archived")  # fmt: skip
    parser.set_defaults(run=run_verify)


def add_backup(parser: argparse.ArgumentParser) -> None:
    """Add what `fairx backup` takes."""
    add_store(parser)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.set_defaults(run=run_backup)


def add_restore(parser: argparse.ArgumentParser) -> None:
    """Add what `fairx restore` takes."""
    parser.add_argument("backup", type=Path, metavar="BACKUP")
    parser.add_argument("--replace", action="store_true", help="move the store there aside")
    add_store(parser)
    parser.set_defaults(run=run_restore)


def run_verify(options: argparse.Namespace) -> int:
    """Check every line of the log."""
    from tqdm import tqdm

    from fairx.store import Archive, located, verify
    from fairx.store.archives.record import parts
    from fairx.store.opening import check_whole

    store = located(options.store)
    archive = Archive(options.archive, not options.without_archive)
    secret = secret_at_hand(store, options.secret_file)
    check_whole(store)
    database = store.reader()
    database.check()  # what a damaged file seems to hold is not worth comparing
    with tqdm(unit=" decisions", delay=2, leave=False) as bar, database.transaction():
        named = parts(database)
        found = verify(database, secret, bar.update, archive, served=secret is not None)
        if options.export is not None:
            from fairx.store.anchors import behind

            found = found._replace(problems=(*behind(database, options.export), *found.problems))
    moved = bool(found.problems) and parts(database) != named
    database.close()
    _print_problems(found.problems, moved)
    _print_found(found)
    if not found.sealed:
        print(
            f"lines that were removed are not missed: {NO_SECRET if secret is None else NO_SEALS}"
        )
    return 1 if found.problems else 0


def _print_found(found: Any) -> None:
    print(
        f"{found.decisions - found.erased:,} decisions of {found.experiments} experiments made again, "
        f"{found.snapshots:,} snapshots rebuilt from {found.matured:,} mature decisions: "
        f"{len(found.problems):,} problems"
    )
    if found.archived:
        print(
            f"{found.archived:,} decisions were not made again: what they follow from is archived"
        )
    if found.erased:
        print(f"{found.erased:,} decisions could not be made again: their contexts were erased")


def _print_problems(problems: Sequence[str], moved: bool) -> None:
    for problem in problems[:SHOWN]:
        print(f"problem: {problem}")
    if len(problems) > SHOWN:
        print(f"and {len(problems) - SHOWN:,} more")
    if moved:
        print("files of the archive were exchanged meanwhile, for a unit was erased: verify again")


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


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add where the store is."""
    parser.add_argument(
        "--store", required=True, metavar="ADDRESS", help="sqlite:///PATH or postgresql://..."
    )


def secret_at_hand(store: Any, file: Path | None) -> bytes | None:
    """Return the secret, where there is one to be found."""
    from fairx.service.secrecy import secret_of

    there = file or os.environ.get("FAIRX_SECRET")
    beside = store.path is not None and store.path.with_name(store.path.name + ".secret").exists()
    return secret_of(store, file) if there or beside else None
