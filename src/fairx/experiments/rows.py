"""Rows on disk, in Parquet: each run is written when it is finished, whole or not at all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise ImportError("experiments need Parquet: pip install 'fairx[experiments]'") from error

from fairx.files import UNFINISHED, replaced

from .tasks import Row, key_of

NUMBERS = ("rounds", "seed", "run")
COUNTS = ("checkpoints", "pulls")
CURVES = (
    "fairness_regret",
    "reward_regret",
    "exposure",
    "best_arm_regret",
    "reward_earned",
    "measured",
)
TEXTS = ("key", "settings", "data", "part", "policy", "merit", "version", "checksum")
SCHEMA = pa.schema(
    [(name, pa.string()) for name in TEXTS]
    + [(name, pa.int64()) for name in NUMBERS]
    + [(name, pa.list_(pa.int64())) for name in COUNTS]
    + [(name, pa.list_(pa.float64())) for name in CURVES]
)
# Columns that rows of before 0.2 lack, and of before there were notions.
LATER = {"best_arm_regret", "reward_earned", "measured"}
MANY = 200  # loose files, before they are gathered into one


class Rows:
    """All finished runs of a folder, by their keys.

    Each is a file of its own until `gather` makes one file of many; whatever a crash leaves
    behind is either a whole file or one that is set aside, and its runs are played again.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.torn: list[Path] = []
        self.loose: list[Path] = []
        self.found: dict[str, Row] = {}
        for unfinished in directory.glob(f"{UNFINISHED}*"):
            unfinished.unlink()
        for path in sorted(directory.glob("*.parquet")):
            self.found |= {row["key"]: row for row in self._read(path)}
        if len(self.loose) > MANY:
            self.gather()

    def __contains__(self, key: str) -> bool:
        return key in self.found

    def __getitem__(self, key: str) -> Row:
        return self.found[key]

    def __len__(self) -> int:
        return len(self.found)

    def add(self, *rows: Row) -> None:
        """Write one row, or several together; once this returns, they outlive a power cut."""
        loose = self.directory / f"{rows[0]['key']}.parquet"
        self._write(rows, loose if len(rows) == 1 else self._next_batch())
        self.found |= {row["key"]: row for row in rows}
        if len(rows) == 1:
            self.loose.append(loose)
        if len(self.loose) > MANY:
            self.gather()

    def digest(self, keys: Iterable[str]) -> str:
        """Return the SHA-256 of some rows: of their keys, in order, and of all their numbers."""
        found = hashlib.sha256()
        for key in sorted(keys):
            found.update(key.encode())
            for names, kind in ((COUNTS, "<i8"), (CURVES, "<f8")):
                for name in names:
                    found.update(np.asarray(self.found[key][name], kind).tobytes())
        return found.hexdigest()

    def gather(self) -> None:
        """Make one file of the loose ones; rows that a crash leaves in both are the same rows."""
        if not self.loose:
            return
        self._write([self.found[path.stem] for path in self.loose], self._next_batch())
        for path in self.loose:
            path.unlink(missing_ok=True)
        self.loose.clear()

    def join(self, directory: Path) -> int:
        """Take in the rows of another folder that are not here yet; return how many.

        Nothing is changed there. What is in both stays as it is here.
        """
        brought: dict[str, Row] = {}
        for path in sorted(directory.glob("*.parquet")):
            for row in _foreign(path):
                here = self.found.get(row["key"])
                if here is None:
                    brought[row["key"]] = row
                elif not np.array_equal(here["pulls"], row["pulls"]):
                    raise ValueError(f"{path} has another run of the key {row['key']} than is here")
        if brought:
            self._write(list(brought.values()), self._next_batch())
            self.found |= brought
        return len(brought)

    def _next_batch(self) -> Path:
        there = (int(path.stem[6:]) for path in self.directory.glob("batch-*.parquet"))
        return self.directory / f"batch-{1 + max(there, default=0):05}.parquet"

    def _read(self, path: Path) -> Iterator[Row]:
        """Yield the rows of a file; set it aside if it is torn."""
        try:
            rows = _rows_of(path)
        except (pa.ArrowException, ValueError, OSError) as error:
            if isinstance(error, PermissionError):
                raise
            self.torn.append(path.rename(path.with_suffix(".torn")))
            return
        if not path.stem.startswith("batch-"):
            self.loose.append(path)
        yield from rows

    def _write(self, rows: Sequence[Row], path: Path) -> None:
        with replaced(path) as file:
            pq.write_table(_table(rows), file, compression="zstd", write_page_checksum=True)


def _table(rows: Sequence[Row]) -> pa.Table:
    """Return the rows as a table, curves without a number of Python's for each of theirs."""
    columns = [
        pa.array([row[name] for row in rows], SCHEMA.field(name).type) for name in TEXTS + NUMBERS
    ]
    for name in COUNTS + CURVES:
        kind = SCHEMA.field(name).type
        values = [np.asarray(row[name]) for row in rows]
        ends = np.cumsum([0, *map(len, values)], dtype=np.int32)
        columns.append(
            pa.ListArray.from_arrays(ends, pa.array(np.concatenate(values), kind.value_type))
        )
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _rows_of(path: Path) -> list[Row]:
    return _plain(_complete(pq.read_table(path, page_checksum_verification=True)))


def _foreign(path: Path) -> list[Row]:
    """Return the rows of a file of another folder; refuse one that is torn, or whose keys are not theirs."""
    try:
        rows = _rows_of(path)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise ValueError(f"{path} must be a file of rows, and is torn or none: {error}") from error
    for row in rows:
        if key_of(row["settings"]) != row["key"]:
            raise ValueError(
                f"{path} has a row whose key is not that of its settings: {row['key']}"
            )
    return rows


def _complete(table: pa.Table) -> pa.Table:
    """Return a table with all columns; refuse one that lacks any but the later ones."""
    names = set(table.column_names)
    if not set(SCHEMA.names) - LATER <= names <= set(SCHEMA.names):
        raise ValueError(f"columns must be {SCHEMA.names}, not {table.column_names}")
    for name in LATER - names:
        table = table.append_column(name, pa.nulls(len(table), SCHEMA.field(name).type))
    return table.select(SCHEMA.names).cast(SCHEMA)


def _plain(table: pa.Table) -> list[Row]:
    """Return the rows with arrays for lists: a sweep of many thousand runs fits into memory."""
    rows: list[Row] = table.select([*TEXTS, *NUMBERS]).to_pylist()
    for name in (*COUNTS, *CURVES):
        column = table[name].combine_chunks()
        values, ends = column.values.to_numpy(), column.offsets.to_numpy()
        for i, row in enumerate(rows):
            row[name] = values[ends[i] : ends[i + 1]]
    return rows
