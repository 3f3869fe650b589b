"""The files of a `LossyDisk`: what was written is seen at once, and on the disk when it is synced."""

# ruff: noqa: N802 (the names are SQLite's)
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

if TYPE_CHECKING:
    from lossy import Mount

SECTOR = 512  # what a disk writes as a whole
Result = TypeVar("Result")
Change = tuple[int, bytes | None]  # bytes at an offset; None: the file ends there


@dataclass
class Held:
    """A file as the running system sees it, and what of it the disk does not have."""

    content: bytearray
    named: bool  # its name is on the disk
    changes: list[Change] = field(default_factory=list)


def powered(method: Callable[..., Result]) -> Callable[..., Result]:
    """Let one thread in at a time, and none after the cut."""

    @wraps(method)
    def guarded(self: Mount | Journal, *given: Any) -> Result:
        with self.mount.disk.lock:
            if self.mount.dead:
                raise apsw.IOError("the disk has lost power: open the database anew")
            return method(self, *given)

    return guarded


class Journal:
    """A journal or write-ahead log, which SQLite does not lock."""

    def __init__(self, mount: Mount, path: Path, held: Held) -> None:
        self.mount, self.path, self.held = mount, path, held

    @powered
    def xRead(self, amount: int, offset: int) -> bytes:
        return bytes(self.held.content[offset : offset + amount])

    @powered
    def xFileSize(self) -> int:
        return len(self.held.content)

    @powered
    def xWrite(self, data: bytes, offset: int) -> None:
        self.change(offset, bytes(data))

    @powered
    def xTruncate(self, newsize: int) -> None:
        self.change(newsize, None)

    def change(self, offset: int, data: bytes | None) -> None:
        self.mount.disk.spend()
        apply(self.held.content, offset, data)
        self.held.changes.append((offset, data))

    @powered
    def xSync(self, flags: int) -> None:
        self.mount.disk.spend()
        if self.mount.files.get(self.path) is self.held:  # and not deleted
            if not self.held.named:
                self.mount.sync_folder()
            self.store(self.held.changes)
            self.held.changes.clear()

    def store(self, changes: list[Change]) -> None:
        with self.path.open("r+b") as file:
            for offset, data in changes:
                file.seek(offset)
                _ = file.truncate() if data is None else file.write(data)

    def xFileControl(self, op: int, ptr: int) -> bool:
        return False

    def xClose(self) -> None:
        """Do nothing: no file is open."""


class Database(Journal, apsw.VFSFile):
    """A database: locks and shared memory are those of the file on the disk."""

    def __init__(self, mount: Mount, path: Path, held: Held, name: Any, flags: list[int]) -> None:
        Journal.__init__(self, mount, path, held)
        apsw.VFSFile.__init__(self, "", name, flags)

    def store(self, changes: list[Change]) -> None:
        for offset, data in changes:
            if data is None:
                apsw.VFSFile.xTruncate(self, offset)
            else:
                apsw.VFSFile.xWrite(self, data, offset)

    @powered
    def xLock(self, level: int) -> None:
        apsw.VFSFile.xLock(self, level)

    def xFileControl(self, op: int, ptr: int) -> bool:
        # A memory map would not see what is held.
        return op != apsw.SQLITE_FCNTL_MMAP_SIZE and apsw.VFSFile.xFileControl(self, op, ptr)

    def xClose(self) -> None:
        apsw.VFSFile.xClose(self)


def apply(content: bytearray, offset: int, data: bytes | None) -> None:
    """Write or truncate; what lies between the end and an offset beyond it is zero."""
    content.extend(bytes(max(0, offset - len(content))))
    if data is None:
        del content[offset:]
    else:
        content[offset : offset + len(data)] = data


def pieces(changes: Iterable[Change]) -> Iterator[Change]:
    """Cut writes at the borders of sectors."""
    for offset, data in changes:
        if data is None:
            yield offset, None
        else:
            borders = [0, *range(SECTOR - offset % SECTOR, len(data), SECTOR), len(data)]
            yield from ((offset + start, data[start:end]) for start, end in pairwise(borders))


def replace(path: Path, content: bytearray) -> None:
    """Write a file that is a new one to the system: locks and maps of the old do not matter."""
    fresh = path.with_name(f"{path.name}-fresh")
    fresh.write_bytes(content)
    fresh.replace(path)
