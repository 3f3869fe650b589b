"""Files that are written whole or not at all, and outlive a power cut; archives without pickle."""

from __future__ import annotations

import json
import os
import sys
import uuid
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from fairx.errors import BrokenFile

ARCHIVE_VERSION = 1
UNFINISHED = ".unfinished-"
# All that reading a truncated or foreign archive of arrays has been seen to raise.
UNREADABLE = (
    OSError, ValueError, RuntimeError, KeyError, TypeError, EOFError, AttributeError,
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


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
) -> None:
    """Replace `path` by plain settings and arrays, in one step, safe against a crash at any moment."""
    text = json.dumps({"format": f"fairx {kind}", "version": ARCHIVE_VERSION, **header})
    parts: dict[str, Any] = {"header": np.frombuffer(text.encode(), np.uint8), **arrays}
    with replaced(path) as file:
        np.savez(file, **parts)


def read_archive(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return what `write_archive` wrote, or say why it cannot."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes())
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise BrokenFile(f"{path} is not a saved {kind}, or is truncated ({error})") from error
    if not isinstance(header, dict) or header.get("format") != f"fairx {kind}":
        raise BrokenFile(f"{path} is not a saved {kind}")
    if header.get("version") != ARCHIVE_VERSION:
        found = header.get("version")
        raise BrokenFile(
            f"{path} has version {found!r}, but this fairx reads version {ARCHIVE_VERSION}"
        )
    return header, arrays


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
