"""Backups of a store on SQLite, taken while it is in use, and put back whole."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from fairx.errors import BrokenFile
from fairx.files import replaced

from .opening import Store
from .sqlite import SQLite

PAGES = 2000  # at a time: the service writes in between


def backup(store: Store, path: str | os.PathLike[str]) -> int:
    """Copy a store, as of one moment, to a file that appears when it is whole; return its size."""
    import apsw

    source = SQLite(_file(store), write=False)
    with replaced(path) as file:
        name = file.name
        target = apsw.Connection(name)
        try:
            with source.transaction(), target.backup("main", source.connection, "main") as copy:
                source.rows(
                    "SELECT count(*) FROM meta"
                )  # from here on, this moment is what is read
                while not copy.done:
                    copy.step(PAGES)
            target.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            target.close()
            source.close()
    check(path)
    return Path(path).stat().st_size


def restore(path: str | os.PathLike[str], store: Store, *, replace: bool = False) -> Path | None:
    """Put a backup in the place of a store that nobody uses; return where the old one went."""
    target = _file(store)
    check(path)
    if target.exists() and not replace:
        raise FileExistsError(f"{target} exists: give --replace to move it aside")
    aside = None
    if target.exists():
        aside = target.with_name(f"{target.name}.before-{time.strftime('%Y%m%dT%H%M%S')}")
        _move_aside(target, aside)
    with replaced(target) as file, Path(path).open("rb") as source:
        shutil.copyfileobj(source, file)
    return aside


def check(path: str | os.PathLike[str]) -> None:
    """Refuse a file that is no store, or a broken one."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no backup at {path}")
    database = SQLite(path, write=False)
    try:
        found = [row[0] for row in database.rows("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise BrokenFile(f"{path} must be a whole store, but SQLite says: {found[0]}")
        if not database.rows("SELECT 1 FROM sqlite_master WHERE name = 'decisions'"):
            raise BrokenFile(f"{path} must be a store of fairx, but has no decisions")
    except BrokenFile:
        raise
    except Exception as error:
        raise BrokenFile(f"{path} must be a store of fairx: {error}") from error
    finally:
        database.close()


def _move_aside(target: Path, aside: Path) -> None:
    """Take a store out of use: what is in its log of changes goes into the file first."""
    database = SQLite(target, write=True)  # refused while the service runs
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    for end in ("-wal", "-shm"):
        target.with_name(target.name + end).unlink(missing_ok=True)
    target.rename(aside)


def _file(store: Store) -> Path:
    if store.path is None:
        raise ValueError(
            f"store must be sqlite:///PATH, not {store.address}: use pg_dump and pg_restore"
        )
    return store.path
