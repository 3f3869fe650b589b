"""Files that the store does not name: what a run that was cut off left, or one after a backup that was restored.

They may have lines that are nowhere else, so that they are never removed; but they must not know more of a unit
that is erased than the store does.
"""

from __future__ import annotations

import secrets
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..database import Database, Row
from .files import CHUNK, SCHEMAS, write_table
from .record import parts

UNNAMED = "not-named"
MARK = "SELECT value FROM meta WHERE name = 'secret'"
NAMES = SCHEMAS["decisions"].names
UNIT = NAMES.index("unit")
EMPTIED = {NAMES.index("unit"): None, NAMES.index("contexts"): None, NAMES.index("asked"): b""}
ERASED = NAMES.index("erased")


def mark_of(database: Database) -> str:
    """Return what the names of a store's files begin with."""
    ((secret,),) = database.rows(MARK)
    found: str = secret[:8]
    return found


def unnamed(database: Database, folder: Path, which: str = "*") -> list[Path]:
    """Return the files in a folder that are the store's by their names, and that it does not name."""
    known = {part.file for part in parts(database)}
    found = sorted(folder.glob(f"{mark_of(database)}-{which}.parquet"))
    return [path for path in found if path.name not in known]


def left_with(database: Database, folder: Path, experiments: list[int], unit: str) -> list[Path]:
    """Return the files that are not named, or were moved aside, and have decisions of a unit."""
    return [
        path
        for place in (folder, folder / UNNAMED)
        for number in experiments
        for path in unnamed(database, place, f"{number}-*-decisions-*")
        if _has(path, unit)
    ]


def forget(path: Path, unit: str, time: float) -> None:
    """Write a file anew in which decisions of a unit are erased; it is still not named."""
    with pq.ParquetFile(path) as file:
        rows = (
            [erased_row(row, time) if row[UNIT] == unit else row for row in _rows(batch)]
            for batch in file.iter_batches(CHUNK)
        )
        write_table(renamed(path), "decisions", rows)
    path.unlink()


def renamed(path: Path) -> Path:
    """Return the name of a file that is to take the place of another."""
    return path.with_name(f"{path.name.rpartition('-')[0]}-{secrets.token_hex(4)}.parquet")


def erased_row(row: Row, time: float) -> Row:
    """Return a decision without what is known of its unit."""
    values = list(row)
    for place, value in EMPTIED.items():
        values[place] = value
    values[ERASED] = time
    return tuple(values)


def _has(path: Path, unit: str) -> bool:
    try:
        return unit in pq.read_table(path, columns=["unit"])["unit"].to_pylist()
    except (pa.ArrowException, OSError):  # it was cut off while it was written, or just went
        return False


def _rows(batch: pa.RecordBatch) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
