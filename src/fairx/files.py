"""Files that are written whole or not at all, and outlive a power cut."""

from __future__ import annotations

import os
import sys
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

UNFINISHED = ".unfinished-"
# All that reading a truncated or foreign archive of arrays has been seen to raise.
UNREADABLE = (
    OSError, ValueError, KeyError, TypeError, EOFError, AttributeError,
    NotImplementedError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` in one step, when all went well.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replaced(folder / "note") as file:
    ...     _ = file.write(b"all of it")
    >>> [entry.name for entry in folder.iterdir()]
    ['note']
    """
    target = Path(path)
    unfinished = target.parent / f"{UNFINISHED}{uuid.uuid4().hex}"
    try:
        with unfinished.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    sync_directory(target.parent)


def sync_directory(directory: Path) -> None:
    """Make new names in a directory durable, where the system can."""
    try:
        handle = os.open(directory, os.O_RDONLY)
    except OSError:  # Windows cannot open a directory
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def hold(file: IO[Any]) -> None:
        """Lock an open file until this process ends, however it ends; else a BlockingIOError."""
        handle = file.fileno()
        before = os.lseek(handle, 0, os.SEEK_CUR)
        os.lseek(handle, 1 << 30, os.SEEK_SET)  # a locked byte cannot be read: one far behind
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(str(error)) from error
        finally:
            os.lseek(handle, before, os.SEEK_SET)

else:
    import fcntl

    def hold(file: IO[Any]) -> None:
        """Lock an open file until this process ends, however it ends; else a BlockingIOError."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
