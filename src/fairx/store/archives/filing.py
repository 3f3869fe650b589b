"""The folder of an archive: files that are new in it, checked, and those that the store does not name."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path

from fairx.errors import BrokenFile

from ..database import Database, Row
from .files import Adder, Written, read_lines, write_lines
from .leftovers import UNNAMED, mark_of, unnamed
from .record import Cut, Part, folder_of, hold_names, others_folder, parts, with_sum


class Changed(Exception):
    """Something came to lines that were being archived, or to their files."""


class Filing:
    """Writes files of a store to a folder; stores may share it."""

    def __init__(self, database: Database, folder: Path, key: bytes, now: float) -> None:
        self.folder, self.key, self.now = folder, key, now
        self._mark = mark_of(database)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def write(self, kind: str, experiment: int, cut: Cut, rows: Iterable[list[Row]]) -> Part:
        """Write lines to a new file, read it again, and return what the store is to know of it.

        A disk that garbles is noticed while the lines are in the store.
        """
        token = secrets.token_hex(4)  # a file that is there is never written over
        name = f"{self._mark}-{experiment}-{cut.upto:012d}-{kind}-{token}.parquet"
        path = self.folder / name
        try:
            made = write_lines(path, kind, rows, self.key, experiment)
            return self._checked(part_of(kind, experiment, cut, self.now, made), made)
        except (BrokenFile, FileNotFoundError):
            if path.is_file() or not self.folder.is_dir():
                raise
            (self.folder / UNNAMED / name).unlink(missing_ok=True)
            raise Changed from None  # another run, that began meanwhile, moved it aside

    def _checked(self, part: Part, made: Written) -> Part:
        total = Adder(part.kind, self.key, part.experiment)
        for rows in read_lines(self.folder, part):
            total.add(rows)
        if total.found != made.sum:
            path = self.folder / part.file
            raise BrokenFile(f"archive {path} is not what was written: see the disk")
        return with_sum(part, self.key, made.sum)

    def forget(self, made: Iterable[Part]) -> None:
        """Remove files that the store is not to name."""
        for part in made:
            for folder in (self.folder, self.folder / UNNAMED):
                (folder / part.file).unlink(missing_ok=True)

    def has(self, made: Iterable[Part]) -> bool:
        """Tell whether files are where they were written: another run may have moved them aside."""
        return all((self.folder / part.file).is_file() for part in made)

    def move_unnamed(self, database: Database) -> int:
        """Move aside what a run that was cut off left, or one later than a backup that was restored."""
        with database.transaction():
            hold_names(database)
            found = unnamed(database, self.folder)
            for path in found:
                (self.folder / UNNAMED).mkdir(exist_ok=True, mode=0o700)
                path.rename(self.folder / UNNAMED / path.name)
        return len(found)


def part_of(kind: str, experiment: int, cut: Cut, now: float, made: Written) -> Part:
    """Return what is known of a file, but for the sum of its lines."""
    return Part(experiment, kind, cut.upto, cut.version, made.file, made.digest, 0, b"", b"", now)


def settled(database: Database, given: Path | None, beside: Path | None) -> Path:
    """Return the folder to write to: one that has all files of before; with SQLite, beside the store."""
    there = parts(database)
    whose = others_folder(database) if there and given is None else None
    if whose is not None:
        raise ValueError(
            f"--to must be given: {whose}; copy it if that store is in use, or say that it is this one's"
        )
    folder = given or (folder_of(database, None) if there else beside)
    if folder is None:
        raise ValueError("--to must be given: the folder that the files are to go to")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--to must be a folder, not {folder}")
    lost = [part.file for part in there if not (folder / part.file).is_file()]
    if lost:
        raise ValueError(
            f"--to must have the {len(there)} files that were archived before, not lack {len(lost)} of them "
            f"as {folder} does: move them there from {folder_of(database, None)}"
        )
    return folder
