"""Files of Parquet with lines of the log as they were in the store, column by column."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from fairx.errors import BrokenFile
from fairx.files import sync_directory

from .. import crash_points
from ..database import Row
from ..sealing import MODULUS, Sum, digest
from ..seals import KINDS
from .record import Part

WHOLE, REAL, TEXT, BYTES = pa.int64(), pa.float64(), pa.string(), pa.binary()
CHUNK = 2000  # lines
SCHEMAS = {
    "decisions": pa.schema(
        [
            ("sequence", WHOLE), ("id", TEXT), ("experiment", WHOLE), ("time", REAL), ("snapshot", WHOLE),
            ("arm", WHOLE), ("slot", WHOLE), ("candidates", BYTES), ("probabilities", BYTES),
            ("contexts", BYTES), ("unit", TEXT), ("asked", BYTES), ("due", REAL), ("erased", REAL),
            ("place", WHOLE), ("weight", REAL), ("propensity", REAL),
        ]
    ),
    "rewards": pa.schema(
        [
            ("decision", TEXT), ("id", TEXT), ("experiment", WHOLE), ("value", REAL), ("final", WHOLE),
            ("late", WHOLE), ("time", REAL),
        ]
    ),
    "shown": pa.schema([("decision", TEXT), ("experiment", WHOLE), ("late", WHOLE), ("time", REAL)]),
    "matured": pa.schema(
        [
            ("experiment", WHOLE), ("number", WHOLE), ("sequence", WHOLE), ("reward", REAL),
            ("rewards", WHOLE), ("time", REAL),
        ]
    ),
    "snapshots": pa.schema(
        [
            ("experiment", WHOLE), ("version", WHOLE), ("watermark", WHOLE), ("digest", TEXT), ("time", REAL),
        ]
    ),
    "checkpoints": pa.schema([("experiment", WHOLE), ("watermark", WHOLE), ("body", BYTES)]),
    "actions": pa.schema(
        [
            ("id", WHOLE), ("time", REAL), ("actor", TEXT), ("action", TEXT), ("experiment", TEXT),
            ("detail", TEXT),
        ]
    ),
}  # fmt: skip
# Of what is not sealed in the store, for it follows from the rest, all columns count.
SEALED = {
    kind: KINDS[kind].columns.split(", ") if kind in KINDS else schema.names
    for kind, schema in SCHEMAS.items()
}


class Written(NamedTuple):
    """A file that was written, and the keyed sum of its lines."""

    file: str
    digest: str
    sum: Sum


def write_lines(
    path: Path, kind: str, rows: Iterable[list[Row]], key: bytes, experiment: int
) -> Written:
    """Write lines to a new file, synced when this returns; return what it is known by."""
    total = Adder(kind, key, experiment)
    write_table(path, kind, map(total.noted, rows))
    return Written(path.name, digest_of(path), total.found)


def write_table(path: Path, kind: str, rows: Iterable[list[Row]]) -> None:
    """Write lines to a new file, which goes again where that fails.

    It has its name from the start: half a file, of a run that was killed, is seen to be one.
    """
    schema = SCHEMAS[kind]
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)  # contexts and units
    try:
        with os.fdopen(handle, "wb") as file:
            with pq.ParquetWriter(file, schema, compression="zstd") as writer:
                for some in rows:
                    columns = list(zip(*some, strict=True))
                    writer.write_table(pa.table(list(map(pa.array, columns, schema.types)), schema))
                    crash_points.reach("archive_writing")
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


class Adder:
    """Adds up lines of a kind, as seals do."""

    def __init__(self, kind: str, key: bytes, experiment: int) -> None:
        self._key, self._of, names = key, (experiment, kind), SCHEMAS[kind].names
        self._places = [names.index(name) for name in SEALED[kind]]
        self.found: Sum = (0, 0)

    def add(self, rows: Iterable[Row], sign: int = 1) -> None:
        """Add lines, or take them out."""
        count, total = self.found
        for row in rows:
            count += sign
            total += sign * digest(self._key, self._of, [row[place] for place in self._places])
        self.found = (count, total % MODULUS)

    def noted(self, rows: list[Row]) -> list[Row]:
        """Add lines, and return them."""
        self.add(rows)
        return rows


def read_lines(folder: Path, part: Part, columns: list[str] | None = None) -> Iterator[list[Row]]:
    """Yield the lines of a file, some at a time; a file that is gone or changed is refused."""
    path = checked(folder, part)
    try:
        with pq.ParquetFile(path) as file:
            if file.schema_arrow.names != SCHEMAS[part.kind].names:
                raise BrokenFile(f"archive {path} must have lines of {part.kind}")
            for batch in file.iter_batches(CHUNK, columns=columns):
                yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    except pa.ArrowException as error:
        raise BrokenFile(f"archive {path} cannot be read: {error}") from error


def checked(folder: Path, part: Part) -> Path:
    """Return where a file is; refuse one that is gone, or was changed since it was written."""
    path = folder / part.file
    if not path.is_file():
        raise BrokenFile(
            f"archive {path} is not there: {_has(part)}; say where it is, --archive FOLDER"
        )
    if digest_of(path) != part.digest:
        raise BrokenFile(f"archive {path} was changed since it was written: {_has(part)}")
    return path


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _has(part: Part) -> str:
    return f"it has {part.lines:,} lines of {part.kind}"
