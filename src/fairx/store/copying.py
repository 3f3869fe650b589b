"""Backups of a store on SQLite, taken while it is in use, and put back whole."""

from __future__ import annotations

import os
from pathlib import Path

from fairx.errors import BrokenFile
from fairx.files import replaced

from .opening import Store, check_whole
from .setting_aside import LOGS, done, moved_aside
from .sqlite import SQLite, only_writer

PAGES = 2000  # at a time: the service writes in between


def backup(store: Store, path: str | os.PathLike[str]) -> int:
    """Copy a store, as of one moment, to a file that appears when it is whole; return its size."""
    import apsw

    target = _file(store)
    if any(_is_same(Path(path), part) for part in parts_of(target)):
        raise ValueError(
            f"the backup must be another file than the store and its parts, not {path}"
        )
    check_whole(store)
    with replaced(path) as file:
        try:
            _copy(target, file.name)
        except (apsw.CorruptError, apsw.NotADBError) as error:
            raise BrokenFile(f"{target} must be a whole store, but SQLite says: {error}") from error
        check(file.name, called=target)  # before it takes the place of the last one
    return Path(path).stat().st_size


def restore(path: str | os.PathLike[str], store: Store, *, replace: bool = False) -> Path | None:
    """Put a backup in the place of a store that nobody uses; return where the old one went.

    The old one may be damaged: it is not opened. A log of changes goes with it, for SQLite would
    play it into the backup. What is put back has its own log, if it was in use and cut off, as one
    that was moved aside: it is read through SQLite.
    """
    target = _file(store)
    check(path)
    if any(_is_same(Path(path), part) for part in parts_of(target)):
        raise ValueError(f"the backup must be another file than the store, not {path}")
    if target.exists() and not replace:
        raise FileExistsError(f"{target} exists: give --replace to move it aside")
    with only_writer(target):  # refused while the service runs
        with replaced(target) as file:
            _copy(Path(path), file.name)
            os.fsync(file.fileno())
            aside = moved_aside(target)  # the disk has room: only now does the old one go
        done(target)
    return aside


def check(path: str | os.PathLike[str], called: str | os.PathLike[str] | None = None) -> None:
    """Refuse a file that is no store, or a broken one; `called` is its name in what is said."""
    called = called or path
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no backup at {path}")
    database = SQLite(path, write=False)
    try:
        found = [row[0] for row in database.rows("PRAGMA integrity_check(1)")]
        if found != ["ok"]:
            raise BrokenFile(f"{called} must be a whole store, but SQLite says: {found[0]}")
        if not database.rows("SELECT 1 FROM sqlite_master WHERE name = 'decisions'"):
            raise BrokenFile(f"{called} must be a store of fairx, but has no decisions")
    except BrokenFile:
        raise
    except Exception as error:
        raise BrokenFile(f"{called} must be a store of fairx: {error}") from error
    finally:
        database.close()


def parts_of(target: Path) -> list[Path]:
    """Return the file of a store, and those that belong to it: beside a link to it, and beside itself."""
    ends = ("", *LOGS, ".lock", ".secret")
    return [each.with_name(each.name + end) for each in (target, target.resolve()) for end in ends]


def _copy(target: Path, name: str) -> None:
    import apsw

    source = SQLite(target, write=False)
    copied = apsw.Connection(name)
    try:
        with source.transaction(), copied.backup("main", source.connection, "main") as copy:
            source.rows("SELECT count(*) FROM meta")  # from here on, this moment is what is read
            while not copy.done:
                copy.step(PAGES)
        copied.execute("PRAGMA journal_mode = DELETE").fetchall()
    finally:
        copied.close()
        source.close()


def _is_same(one: Path, other: Path) -> bool:
    """Tell whether two names are of one file, by whatever links."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def _file(store: Store) -> Path:
    if store.path is None:
        raise ValueError(
            f"store must be sqlite:///PATH, not {store.address}: use pg_dump and pg_restore"
        )
    return store.path
