"""Erasure reaches archives: files with decisions of a unit are written anew without it.

The new files are there before the store names them, and the old ones go after it no longer does: whenever
it is cut off, the store names whole files. An old file that is left is moved aside by the next `fairx archive`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..database import Database, Row
from ..errors import Conflict, Unavailable
from ..sealing import MODULUS, Sum, sealed
from ..snapshots import experiments
from . import leftovers
from .files import SCHEMAS, SEALED, Adder, Written, read_lines, write_lines
from .record import Part, folder_of, hold_names, others_folder, parts, sum_of, with_sum

NAMES = SCHEMAS["decisions"].names
UNIT, PLACE = NAMES.index("unit"), NAMES.index("place")
MOVED = """
UPDATE archives SET file = ?, digest = ?, nonce = ?, value = ? WHERE experiment = ? AND kind = ? AND upto = ?
"""


class Rewritten(NamedTuple):
    """A file without a unit, which is to take the place of one with it."""

    part: Part
    new: Part
    before: list[Row]  # the lines that are other ones now
    after: list[Row]


class Erasure(NamedTuple):
    """The files that are to be exchanged in the archives of some experiments."""

    unit: str
    time: float
    folder: Path | None = None
    known: tuple[Part, ...] = ()  # all that there were
    files: tuple[Rewritten, ...] = ()
    left: tuple[Path, ...] = ()  # with the unit, which the store does not name

    def of(self, experiment: int) -> list[Rewritten]:
        """Return those of one experiment."""
        return [each for each in self.files if each.part.experiment == experiment]

    def end(self, *, done: bool) -> None:
        """Remove the files that are no longer named, or the new ones where nothing came of it."""
        try:
            for each in self.files:
                assert self.folder is not None
                (self.folder / (each.part if done else each.new).file).unlink(missing_ok=True)
            for path in self.left if done else ():
                leftovers.forget(path, self.unit, self.time)
        except OSError as error:
            raise Unavailable(
                f"files that are no longer named cannot be removed: {error}; ask again"
            ) from error

    def is_there(self) -> bool:
        """Tell whether the new files are where they were written."""
        places = [self.folder / each.new.file for each in self.files if self.folder is not None]
        return all(path.is_file() for path in places)


NOTHING = Erasure("", 0.0)


def prepared(
    database: Database, name: str, unit: str, time: float, key: bytes, archive: Path | None
) -> Erasure:
    """Write files without a unit, of all experiments that have, or had, a name."""
    known, folder = _named(database, name), _own_folder(database, name, archive)
    if folder is None:
        return Erasure(unit, time)
    numbers, files = _numbers(database, name), list[Rewritten]()
    try:
        for part in known:
            units = (row[0] for rows in read_lines(folder, part, ["unit"]) for row in rows)
            if unit in units:
                files.append(_rewritten(folder, part, unit, time, key))
        left = leftovers.left_with(database, folder, numbers, unit)
    except BaseException as error:
        Erasure(unit, time, folder, known, tuple(files)).end(done=False)
        if isinstance(error, OSError):
            raise Unavailable(f"nothing was erased: {error}") from error
        raise
    return Erasure(unit, time, folder, known, tuple(files), tuple(left))


def _own_folder(database: Database, name: str, archive: Path | None) -> Path | None:
    """Return the folder that may be written to, if there is one; refuse to write to another store's."""
    is_needed = bool(_named(database, name))
    whose = others_folder(database) if archive is None else None
    if whose is not None and is_needed:
        raise Conflict(
            f"{whose}, and nothing was erased: copy it if that store is in use, or say that it is this "
            "one's, --archive FOLDER"
        )
    if whose is not None:
        return None
    try:
        return folder_of(database, archive)
    except Conflict:
        if is_needed:
            raise
        return None


def exchange(database: Database, experiment: int, erasure: Erasure) -> int:
    """Name the new files; return how many decisions they erase."""
    count = 0
    for each in erasure.of(experiment):
        old, new = each.part, each.new
        values = (new.file, new.digest, new.nonce, new.value, old.experiment, old.kind, old.upto)
        database.rows(MOVED, values)
        for kind, lines, sign in (
            ("archives", [old], -1), ("archives", [new], 1),
            ("decisions", _sealed(each.before), -1), ("decisions", _sealed(each.after), 1),
        ):  # fmt: skip
            sealed(database, kind, experiment, lines, sign)
        count += sum(row[PLACE] in (None, 1) for row in each.before)
    return count


def check_known(database: Database, name: str, erasure: Erasure) -> None:
    """Refuse to go on where something was archived meanwhile, or the new files moved aside."""
    hold_names(database)
    if _named(database, name) != erasure.known or not erasure.is_there():
        raise Conflict("something was archived while this was being erased: ask again")


def _numbers(database: Database, name: str) -> list[int]:
    return [each.id for each in experiments(database, "name = ?", (name,))]


def _named(database: Database, name: str) -> tuple[Part, ...]:
    return tuple(
        part
        for number in _numbers(database, name)
        for part in parts(database, number)
        if part.kind == "decisions"
    )


def _rewritten(folder: Path, part: Part, unit: str, time: float, key: bytes) -> Rewritten:
    before: list[Row] = []
    total = Adder(part.kind, key, part.experiment)
    path, batches = leftovers.renamed(folder / part.file), read_lines(folder, part)
    written = write_lines(
        path, part.kind, _without(batches, unit, time, before), key, part.experiment
    )
    after = [leftovers.erased_row(row, time) for row in before]
    total.add(after)
    total.add(before, -1)
    _check(part, written, total.found, key)
    new = part._replace(file=written.file, digest=written.digest)
    return Rewritten(part, with_sum(new, key, written.sum), before, after)


def _check(part: Part, written: Written, difference: Sum, key: bytes) -> None:
    """Refuse to write anew what was not as it was archived."""
    lines, total = sum_of(part, key)
    wanted = (lines + difference[0], (total + difference[1]) % MODULUS)
    if written.sum != wanted:
        raise Conflict(f"archive {part.file} is not what was archived: see fairx verify")


def _without(
    batches: Iterable[list[Row]], unit: str, time: float, found: list[Row]
) -> Iterator[list[Row]]:
    """Yield lines, those of a unit erased; note them as they were."""
    for rows in batches:
        found += [row for row in rows if row[UNIT] == unit]
        yield [leftovers.erased_row(row, time) if row[UNIT] == unit else row for row in rows]


def _sealed(rows: list[Row]) -> list[Row]:
    places = [NAMES.index(name) for name in SEALED["decisions"]]
    return [tuple(row[place] for place in places) for row in rows]
