"""Temporary files: in one folder of this process, which the next one removes if this one is killed."""

from __future__ import annotations

import contextlib
import functools
import shutil
import tempfile
from pathlib import Path
from typing import IO, NamedTuple

from fairx.files import hold

PREFIX = "fairx-scratch-"
LOCK = "lock"


class Scratch(NamedTuple):
    """A folder, and the lock that says that it is in use."""

    folder: Path
    lock: IO[str]


def folder(prefix: str) -> Path:
    """Return a new folder for temporary files."""
    return Path(tempfile.mkdtemp(prefix=prefix, dir=_of_process().folder))


def remove_leftovers() -> int:
    """Remove the files of processes that were killed; return of how many."""
    removed = 0
    for found in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError), (found / LOCK).open("r+") as lock:
            hold(lock)  # else it is in use, or another user's
            shutil.rmtree(found)
            removed += 1
    return removed


@functools.cache
def _of_process() -> Scratch:
    """Make the folder of this process; under another name until it is locked."""
    import atexit

    made = Path(tempfile.mkdtemp(prefix=f"new-{PREFIX}"))
    lock = (made / LOCK).open("w", encoding="utf-8")
    hold(lock)
    named = made.rename(made.with_name(made.name.removeprefix("new-")))
    atexit.register(shutil.rmtree, named, ignore_errors=True)
    return Scratch(named, lock)
