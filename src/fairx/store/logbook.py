"""The decision log of a store as a file of Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fairx.files import replaced

from . import crash_points
from .anchors import anchor
from .archives.rejoining import rejoined
from .database import Database, Row
from .earlier import Earlier
from .identity import LETTERS
from .log_tables import Pools, schema, table
from .snapshots import ServedExperiment
from .whole_slates import CHUNK

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
MATURE = f"""
SELECT m.number, {COLUMNS},
  (SELECT max(r.time) FROM rewards r WHERE r.decision = d.id AND r.late = 0), NULL, {SHOWN}, {PLACED},
  CASE WHEN {{audited}} THEN 1 ELSE 0 END
FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND {{which}}
"""
NEXT = "m.number > ? ORDER BY m.number LIMIT ?"
NUMBERS = 1 << 20  # probabilities in memory at once


def export(
    database: Database, experiment: ServedExperiment, path: str | os.PathLike[str],
    archive: Path | None = None,
) -> int:  # fmt: skip
    """Write the log to a Parquet file, whole or not at all; return how many decisions it has.

    Archived decisions are in it, as if they were in the store.
    """
    kept = anchor(database, experiment.id)
    with rejoined(database, experiment.id, archive) as found, replaced(path) as file:
        sql = "SELECT 1 FROM decisions WHERE experiment = ? AND place IS NOT NULL LIMIT 1"
        places = bool(found.rows(sql, (experiment.id,)))
        batches, tables = in_turn(found, ALL, experiment.id, 0), whole(found, experiment, places)
        return write(file, batches, schema(places=places).with_metadata(kept), tables)


def whole(
    database: Database, experiment: ServedExperiment, places: bool
) -> Callable[[list[Row]], Iterator[pa.Table]]:
    """Return what makes tables of rows, with all that is known; of long lists, few rows in each."""
    pools = Pools(Earlier(database, experiment), experiment, {}, {})

    def tables(rows: list[Row]) -> Iterator[pa.Table]:
        at_once = max(1, NUMBERS // max([pools.longest(row[3]) for row in rows], default=1))
        for start in range(0, len(rows), at_once):
            yield table(rows[start : start + at_once], pools, places=places)

    return tables


def in_turn(database: Database, sql: str, experiment: int, last: int) -> Iterator[list[Row]]:
    """Yield the rows after `last`, some at a time."""
    while read := database.rows(sql, (experiment, last, CHUNK)):
        last = read[-1][0]
        yield read


def write(
    file: Any,
    batches: Iterable[list[Row]],
    columns: pa.Schema,
    tables: Callable[[list[Row]], Iterable[pa.Table]],
) -> int:
    """Write rows; return how many they are."""
    count = 0
    with pq.ParquetWriter(file, columns, compression="zstd") as writer:
        for rows in batches:
            for part in tables(rows) if rows else ():
                writer.write_table(part.cast(columns))
            crash_points.reach("mid_export")
            count += len(rows)
    return count
