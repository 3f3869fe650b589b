"""A disk that loses power: SQLite's writes are held in memory until they are synced.

The folder has what the disk has, nothing that was not synced: to kill the process that uses a
`LossyDisk` is a power cut too. One process can use it at a time. Shared memory (-shm) and locks are
the system's own. Names are as on ext4: that of a new file is on the disk with the file's first sync;
SQLite syncs the folder with the first sync of a new journal, and after a deletion only where it says
so (`synchronous = extra`), so that a cut may bring a deleted journal back, and undo a commit by it.
"""

# ruff: noqa: N802 (the names are SQLite's)
from __future__ import annotations

import threading
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Self

import apsw
from lossy_files import Database, Held, Journal, apply, pieces, powered, replace

SUCCESSION = count()


class LossyDisk:
    """A folder whose power can be cut.

    Parameters
    ----------
    folder : Path
        Where the databases are.
    keep : float
        How likely a cut keeps each sector, truncation, new name and deletion that was not synced,
        since a real disk may have written some, in any order; `seed` says which.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = Path(mkdtemp())
    >>> with LossyDisk(folder) as disk:
    ...     connection = apsw.Connection(str(folder / "data"), vfs=disk.vfs)
    ...     _ = connection.execute("pragma synchronous = extra; create table kept(value)")
    ...     _ = connection.execute("pragma synchronous = off; insert into kept values (1)")
    ...     disk.cut()
    ...     connection = apsw.Connection(str(folder / "data"), vfs=disk.vfs)
    ...     print(connection.execute("select count(*) from kept").get)
    0
    """

    def __init__(self, folder: Path, keep: float = 0.0, seed: int = 0) -> None:
        if not 0 <= keep <= 1:
            raise ValueError(f"keep must be a probability, not {keep}")
        self.folder, self.keep, self.random = folder.resolve(), keep, Random(seed)
        self.vfs = f"lossy-{next(SUCCESSION)}"
        self.lock = threading.RLock()
        self.left: int | None = None  # changes until the cut

    def __enter__(self) -> Self:
        self.mount = Mount(self)
        return self

    def __exit__(self, *_: object) -> None:
        with self.lock:  # an orderly end: all that was written is there
            self.mount.settle(keep=1.0)
            self.mount.unregister()
        for connection in apsw.connections():
            if connection.open_vfs == self.vfs:  # SQLite must not call us when Python has ended
                connection.close(force=True)

    def cut(self) -> None:
        """Lose power, and have it back: new connections find what was synced.

        Older ones can read from their caches at most; all else of theirs raises `apsw.IOError`.
        """
        with self.lock:
            self.left = None
            self.mount.settle(self.keep)
            self.mount.unregister()
            self.mount = Mount(self)

    def cut_after(self, changes: int) -> None:
        """Cut in the middle: after so many more writes, truncations, syncs and deletions."""
        self.left = changes

    def spend(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.cut()
                raise apsw.IOError("the disk has lost power: open the database anew")


class Mount(apsw.VFS):
    """The file system between two cuts."""

    def __init__(self, disk: LossyDisk) -> None:
        super().__init__(disk.vfs, "")
        self.disk, self.dead = disk, False
        self.files: dict[Path, Held] = {}
        self.deleted: set[Path] = set()  # the disk still has them

    @property
    def mount(self) -> Self:
        return self

    @powered
    def xOpen(self, name: Any, flags: list[int]) -> Any:
        if name is None:
            return super().xOpen(name, flags)  # temporary: nobody misses it
        path = Path(name if isinstance(name, str) else name.filename())
        if self.disk.folder not in path.parents:
            raise apsw.CantOpenError(f"file must be in {self.disk.folder}, not {path}")
        # Read first: to close a file drops the locks that this process has on it.
        held = self.held(path, create=bool(flags[0] & apsw.SQLITE_OPEN_CREATE))
        flags[1] = flags[0]
        main = flags[0] & apsw.SQLITE_OPEN_MAIN_DB
        return Database(self, path, held, name, flags) if main else Journal(self, path, held)

    @powered
    def xAccess(self, pathname: str, flags: int) -> bool:
        path = Path(pathname)
        if self.disk.folder not in path.parents:
            return super().xAccess(pathname, flags)
        return self.exists(path) and bool(self.held(path, create=False).content)

    @powered
    def xDelete(self, filename: str, syncdir: bool) -> None:
        path = Path(filename)
        if not self.exists(path):
            raise apsw.exception_for(apsw.SQLITE_IOERR_DELETE_NOENT)
        self.disk.spend()
        self.files.pop(path, None)
        self.deleted.add(path)
        if syncdir:
            self.sync_folder()

    def exists(self, path: Path) -> bool:
        return path in self.files or (path.exists() and path not in self.deleted)

    def held(self, path: Path, create: bool) -> Held:
        if path not in self.files:
            named = self.exists(path)
            if not named and not create:
                raise apsw.CantOpenError(f"no such file: {path}")
            self.files[path] = Held(bytearray(path.read_bytes() if named else b""), named)
        return self.files[path]

    def sync_folder(self) -> None:
        for path in self.deleted:
            path.unlink(missing_ok=True)
        self.deleted.clear()
        for path, held in self.files.items():
            if not held.named:
                path.touch()
                held.named = True

    def settle(self, keep: float) -> None:
        """End all access, and bring to the disk what it may have of what was not synced."""
        self.dead, chance = True, self.disk.random.random
        for path in sorted(self.deleted):
            if chance() < keep:
                path.unlink(missing_ok=True)
        for path, held in sorted(self.files.items()):
            path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
            if held.named or chance() < keep:
                content = bytearray(path.read_bytes() if held.named else b"")
                for change in pieces(held.changes):
                    if chance() < keep:
                        apply(content, *change)
                replace(path, content)
            elif path not in self.deleted:
                path.unlink(missing_ok=True)
