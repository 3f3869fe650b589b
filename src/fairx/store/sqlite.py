"""SQLite: one process, one writer that is also the only checkpointer, synced at every commit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fairx.errors import BrokenFile
from fairx.files import hold

from .database import Row, write_nothing
from .sealing import Entered, Ledger
from .setting_aside import check_restored
from .tables import set_up, stand_in

TYPES = {
    "serial": "INTEGER PRIMARY KEY",
    "whole": "INTEGER",
    "real": "REAL",
    "bytes": "BLOB",
    "rowless": " WITHOUT ROWID",
}
# Before these, a commit that races a checkpoint can be lost (sqlite.org/wal.html#walresetbug).
FIXED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))


class SQLite:
    """A connection. Writers hold a lock on PATH.lock, so that there is only one."""

    lock = claim = ""  # there is one writer: nobody to lock out
    ledger: Ledger | None = None

    def __init__(
        self, path: str | os.PathLike[str], *, write: bool, vfs: str | None = None
    ) -> None:
        import apsw

        check_version(apsw.sqlite_lib_version())
        self.path, self.known_arms = Path(path), dict[int, tuple[int, tuple[Any, ...]]]()
        self._locked = None
        if write:
            check_one_name(self.path)
            self._locked = only_writer(self.path)
        self.connection: Any = None
        self._has_archive: bool | None = None
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        flags = flags if write else apsw.SQLITE_OPEN_READONLY
        try:
            if write:
                check_restored(self.path)
            self.connection = apsw.Connection(str(path), flags=flags, vfs=vfs)
            self._prepare(write)
        except Exception as error:
            self.close()
            if isinstance(error, (apsw.NotADBError, apsw.CorruptError)):
                raise BrokenFile(f"{path} must be a store of fairx: {error}") from error
            if isinstance(error, apsw.CantOpenError):
                raise OSError(f"cannot open {path}: {error}") from error
            raise

    def _prepare(self, write: bool) -> None:
        self.connection.set_busy_timeout(2000)
        if not write:
            if self.rows("SELECT 1 FROM sqlite_master WHERE name = 'meta'"):
                stand_in(self, TYPES, main="main.")
            self.rows("PRAGMA query_only = ON")
            return
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "wal_autocheckpoint = 4000",
            "secure_delete = ON",  # what is erased is overwritten
        ):
            self.rows(f"PRAGMA {pragma}")
        with self.transaction():
            set_up(self, TYPES)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return what it yields."""
        return list(self.connection.execute(sql, values))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is done inside, synced to the disk, or nothing of it; a savepoint inside one."""
        begin = "BEGIN IMMEDIATE" if self._locked else "BEGIN"
        inside = self.connection.in_transaction
        begin, commit, undo = (
            ("SAVEPOINT part", "RELEASE part", "ROLLBACK TO part; RELEASE part")
            if inside
            else (begin, "COMMIT", "ROLLBACK")
        )
        self.connection.execute(begin)
        try:
            with Entered(self, inside):
                yield
            self.connection.execute(commit)
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute(undo)
            raise
        if not inside and self.ledger is not None:
            self.ledger.committed()

    def check(self) -> None:
        """Refuse a file that is damaged; it is read whole, at the speed of the disk."""
        import apsw

        try:
            found = str(self.rows("PRAGMA quick_check(1)")[0][0])
        except (apsw.CorruptError, apsw.NotADBError) as error:
            found = str(error)
        if found != "ok":
            raise BrokenFile(f"{self.path} is damaged, SQLite says: {found}: restore a backup")

    def identity(self) -> str:
        """Return where the file is."""
        return str(self.path.resolve())

    def probe(self) -> None:
        """Write something that leaves no trace."""
        write_nothing(self)

    def has_archive(self) -> bool:
        """Look once: who writes holds the lock that `fairx archive` needs, so that nothing comes to it."""
        if self._has_archive is None or not self._locked:
            self._has_archive = bool(self.rows("SELECT 1 FROM archived LIMIT 1"))
        return self._has_archive

    def announce(self, experiment: int) -> None:
        """Nobody else is there."""

    def news(self) -> set[int]:
        """Nobody else is there."""
        return set()

    def is_lost(self, error: Exception) -> bool:
        """Tell whether the file cannot be written: a full disk, a torn cable, another's lock."""
        import apsw

        return isinstance(
            error,
            (
                apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError,
                apsw.BusyError, apsw.LockedError, apsw.CorruptError, apsw.NotADBError,
            ),
        )  # fmt: skip

    def is_transient(self, error: Exception) -> bool:
        """Nobody else is there to be in the way."""
        return False

    def close(self) -> None:
        """Close the connection and let another process write."""
        try:
            if self.connection is not None:
                self.connection.close()
        finally:
            if self._locked is not None:
                self._locked.close()


def check_version(version: str) -> None:
    """Refuse a SQLite that can lose commits.

    Examples
    --------
    >>> check_version("3.40.1")
    Traceback (most recent call last):
    RuntimeError: SQLite must be 3.51.3 or newer (or 3.50.7, 3.44.6), not 3.40.1: ...
    """
    found = tuple(int(part) for part in version.split("."))
    if found >= FIXED[-1] or any(found[:2] == fixed[:2] and found >= fixed for fixed in FIXED):
        return
    raise RuntimeError(
        f"SQLite must be 3.51.3 or newer (or 3.50.7, 3.44.6), not {version}: older ones can lose "
        "commits when a checkpoint is under way; pip install --upgrade apsw"
    )


def check_one_name(path: Path) -> None:
    """Refuse a file with hard links: called by another name it would have another lock, and log of changes."""
    names = path.stat().st_nlink if path.exists() else 1
    if names > 1:
        raise OSError(
            f"{path} must have one name, not {names}: SQLite keeps what was written last beside the name, and "
            "by another would not find it; remove the others, and copy a store by fairx backup"
        )


def only_writer(path: Path) -> IO[str]:
    """Hold the lock that one process can hold; the system lets go of it when the process ends."""
    path = path.resolve()  # by whatever link it is called
    file = path.with_name(path.name + ".lock").open("a+", encoding="utf-8")
    try:
        hold(file)
    except OSError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise OSError(
            f"{path} is in use by process {holder}: SQLite serves one process; use "
            "--store postgresql://... for several"
        ) from None
    with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
        os.truncate(file.fileno(), 0)
        os.write(file.fileno(), str(os.getpid()).encode())
    return file
