"""A store is moved aside for another, part by part; whoever is cut off in between leaves a mark that says so."""

from __future__ import annotations

import time
from pathlib import Path

from fairx.files import replaced

LOGS = ("-wal", "-shm")  # beside the file, while it is in use or was cut off
MARK = ".restoring"  # a file that has the name under which the parts go


def moved_aside(target: Path) -> Path | None:
    """Take a store out of use as it is, with its log of changes; return its new name.

    It is marked from here on, until `done`: what was cut off is gone on with, under the same name.
    """
    aside = _aside(target)
    with replaced(_mark(target)) as mark:
        mark.write(aside.name.encode())
    for end in ("", *LOGS):
        part = _part(target, end)
        if part.exists():
            part.rename(_part(aside, end))
    return aside if aside.exists() else None


def done(target: Path) -> None:
    """Take the mark away: another store is there."""
    _mark(target).unlink()


def check_restored(path: Path) -> None:
    """Refuse to begin a store where another is about to be put, or what belonged to the one before."""
    for mark in {_mark(path), _mark(path.resolve())}:
        if mark.exists():
            raise OSError(
                f"{path} must be restored to the end, but fairx restore was cut off: run it again with "
                f"--replace; what was there is, in part or whole, {mark.read_text()} beside it"
            )


def _aside(target: Path) -> Path:
    """Return the name of a restore that was cut off before another store was there; else a new one."""
    name = target.with_name(f"{target.name}.before-{time.strftime('%Y%m%dT%H%M%S')}")
    if _mark(target).exists():
        begun = target.with_name(_mark(target).read_text())
        if not (target.exists() and _is_taken(begun)):
            return begun
    aside, tries = name, 1
    while _is_taken(aside):
        tries += 1
        aside = name.with_name(f"{name.name}-{tries}")
    return aside


def _is_taken(aside: Path) -> bool:
    return any(_part(aside, end).exists() for end in ("", *LOGS))


def _mark(target: Path) -> Path:
    return _part(target, MARK)


def _part(file: Path, end: str) -> Path:
    return file.with_name(file.name + end)
