"""The decision log of a store as files of Parquet: exports, and what an audit reads."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairx.files import replaced

from . import crash_points
from .anchors import anchor
from .audited import audited
from .database import Database, Row, listed
from .identity import LETTERS
from .log_tables import Pools, schema, table
from .snapshots import ServedExperiment
from .whole_slates import CHUNK, WholeSlates

# Of a slate, the row of the first place has the exposures.
PROBABILITIES = f"""
CASE WHEN d.place > 1
  THEN (SELECT f.probabilities FROM decisions f WHERE f.id = substr(d.id, 1, {LETTERS}))
  ELSE d.probabilities END
"""
COLUMNS = f"d.id, d.time, d.snapshot, d.arm, d.slot, d.candidates, {PROBABILITIES}, m.number, m.reward, m.rewards"
SHOWN = "(SELECT s.time FROM shown s WHERE s.decision = d.id AND s.late = 0)"
PLACED = "d.place, d.weight, d.propensity"
ALL = f"""
SELECT d.sequence, {COLUMNS},
  (SELECT max(r.time) FROM rewards r WHERE r.decision = d.id AND r.late = 0),
  (SELECT count(*) FROM rewards r WHERE r.decision = d.id AND r.late = 1), {SHOWN}, {PLACED}, 1
FROM decisions d LEFT JOIN matured m ON m.sequence = d.sequence
WHERE d.experiment = ? AND d.sequence > ? ORDER BY d.sequence LIMIT ?
"""
ANY_PLACE = """
SELECT 1 FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND m.number > ? AND d.place IS NOT NULL LIMIT 1
"""
MATURE = f"""
SELECT m.number, {COLUMNS},
  (SELECT max(r.time) FROM rewards r WHERE r.decision = d.id AND r.late = 0), NULL, {SHOWN}, {PLACED},
  CASE WHEN {{audited}} THEN 1 ELSE 0 END
FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND {{which}}
"""
NEXT = "m.number > ? ORDER BY m.number LIMIT ?"
NAMED = "m.number IN ({marks}) ORDER BY m.number"
AT_ONCE = 1024  # numbers in one statement


def export(database: Database, experiment: ServedExperiment, path: str | os.PathLike[str]) -> int:
    """Write the log to a Parquet file, whole or not at all; return how many decisions it has."""
    sql = "SELECT 1 FROM decisions WHERE experiment = ? AND place IS NOT NULL LIMIT 1"
    places = bool(database.rows(sql, (experiment.id,)))
    with replaced(path) as file:
        batches, kept = _in_turn(database, ALL, experiment.id, 0), anchor(database, experiment.id)
        pools = Pools(database, experiment, {}, {})
        return _write(file, pools, batches, places=places, metadata=kept)


class Spool:
    """The decisions of an experiment that are mature, as Parquet files that an audit reads.

    What is mature never changes, so that each decision is read from the store once; slates, when all
    of their places are. Files are merged as they come: there are few, and each is at least twice as
    large as the next.
    """

    def __init__(self, experiment: ServedExperiment) -> None:
        self._experiment = experiment
        self._folder = Path(tempfile.mkdtemp(prefix="fairx-audit-"))
        self.close = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._last = self._made = 0
        self._slates = WholeSlates()
        self._parts: list[tuple[int, Path]] = []
        self.places = False  # whether there are slates: then all files have their columns

    def extend(self, database: Database) -> Path | None:
        """Take in what has become mature; return the folder, if there is anything in it."""
        try:
            self._take_in(database)
        except BaseException:  # half a file would count twice
            self._begin_again()
            raise
        finally:
            pa.default_memory_pool().release_unused()  # or it would be kept for the next time
        return self._folder if self._parts else None

    def _begin_again(self) -> None:
        self._last, self._parts, self._slates = 0, [], WholeSlates()
        for path in self._folder.iterdir():
            path.unlink()

    def _take_in(self, database: Database) -> None:
        since = (self._experiment.id, self._last)
        if not self.places and database.rows(ANY_PLACE, since):
            self.places = True
            self._begin_again()
        path = self._new_path()
        with path.open("wb") as file:
            pools = Pools(database, self._experiment, {}, {})
            batches = self._whole(database) if self.places else self._mature(database)
            rows = _write(file, pools, batches, places=self.places)
        self._parts.append((rows, path))
        while len(self._parts) > 1 and self._parts[-2][0] < 2 * self._parts[-1][0]:
            self._merge()
        if not self._parts[-1][0]:
            self._parts.pop()[1].unlink()

    def _mature(self, database: Database) -> Iterator[list[Row]]:
        """Yield what has become mature, and counts."""
        sql = MATURE.format(audited=audited(self._experiment.settings), which=NEXT)
        for read in _in_turn(database, sql, self._experiment.id, self._last):
            self._last = read[-1][0]
            yield [row for row in read if row[-1]]

    def _whole(self, database: Database) -> Iterator[list[Row]]:
        """Yield the slates that have become whole."""
        for numbers in self._slates.batches(database, self._experiment):
            for start in range(0, len(numbers), AT_ONCE):
                marks, values = listed(numbers[start : start + AT_ONCE])
                sql = MATURE.format(audited="1 = 1", which=NAMED.format(marks=marks))
                yield database.rows(sql, (self._experiment.id, *values))

    def _merge(self) -> None:
        """Make one file of the last two."""
        path, parts = self._new_path(), [self._parts.pop(), self._parts.pop()]
        with pq.ParquetWriter(path, schema(places=self.places), compression="zstd") as writer:
            for _, part in reversed(parts):
                with pq.ParquetFile(part) as file:
                    for batch in file.iter_batches(CHUNK):
                        writer.write_batch(batch)
                part.unlink()
        self._parts.append((sum(rows for rows, _ in parts), path))

    def _new_path(self) -> Path:
        self._made += 1
        return self._folder / f"{self._made}.parquet"


def _in_turn(database: Database, sql: str, experiment: int, last: int) -> Iterator[list[Row]]:
    """Yield the rows after `last`, some at a time."""
    while read := database.rows(sql, (experiment, last, CHUNK)):
        last = read[-1][0]
        yield read


def _write(
    file: Any,
    pools: Pools,
    batches: Iterable[list[Row]],
    *,
    places: bool,
    metadata: dict[bytes, bytes] | None = None,
) -> int:
    """Write rows; return how many they are. `places` adds the columns of slates."""
    count, columns = 0, schema(places=places).with_metadata(metadata)
    with pq.ParquetWriter(file, columns, compression="zstd") as writer:
        for rows in batches:
            if rows:
                writer.write_table(table(rows, pools, places=places).cast(columns))
            crash_points.reach("mid_export")
            count += len(rows)
    return count
