"""The decision log of a store as tables of Arrow: what `fairx.logs` reads and exports hold."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairx.files import replaced

from . import crash_points
from .audited import audited
from .database import Database
from .snapshots import ServedExperiment, arms_at, candidates_of

CHUNK = 5_000  # decisions in memory at once
COLUMNS = "d.id, d.time, d.snapshot, d.arm, d.slot, d.candidates, d.probabilities, m.number, m.reward, m.rewards"
SHOWN = "(SELECT s.time FROM shown s WHERE s.decision = d.id AND s.late = 0)"
ALL = f"""
SELECT d.sequence, {COLUMNS},
  (SELECT max(r.time) FROM rewards r WHERE r.decision = d.id AND r.late = 0),
  (SELECT count(*) FROM rewards r WHERE r.decision = d.id AND r.late = 1), {SHOWN}, 1
FROM decisions d LEFT JOIN matured m ON m.sequence = d.sequence
WHERE d.experiment = ? AND d.sequence > ? ORDER BY d.sequence LIMIT ?
"""
MATURE = f"""
SELECT m.number, {COLUMNS},
  (SELECT max(r.time) FROM rewards r WHERE r.decision = d.id AND r.late = 0), NULL, {SHOWN},
  CASE WHEN {{audited}} THEN 1 ELSE 0 END
FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND m.number > ? ORDER BY m.number LIMIT ?
"""
PLAIN = pa.list_(pa.string())


class _Pools(NamedTuple):
    """The distinct sets of candidates, by their names, and the number of each."""

    database: Database
    experiment: ServedExperiment
    known: dict[tuple[bytes | None, int], int]
    numbers: dict[tuple[str, ...], int]

    def number(self, candidates: bytes | None, snapshot: int) -> int:
        """Return the number of the pool that a decision was made from."""
        key = (candidates, 0 if candidates is not None else snapshot)
        found = self.known.get(key)
        if found is None:
            names = self._names(candidates, snapshot)
            found = self.known[key] = self.numbers.setdefault(names, len(self.numbers))
        return found

    def _names(self, candidates: bytes | None, snapshot: int) -> tuple[str, ...]:
        arms = arms_at(self.database, self.experiment.id, snapshot)
        return tuple(arms[number].name for number in candidates_of(arms, candidates))


def export(database: Database, experiment: ServedExperiment, path: str | os.PathLike[str]) -> int:
    """Write the log to a Parquet file, whole or not at all; return how many decisions it has."""
    with replaced(path) as file:
        rows, _ = _write(file, _Pools(database, experiment, {}, {}), ALL, 0)
    return rows


class Spool:
    """The decisions of an experiment that are mature, as Parquet files that an audit reads.

    What is mature never changes, so that each decision is read from the store once. Files are
    merged as they come: there are few, and each is at least twice as large as the next.
    """

    def __init__(self, experiment: ServedExperiment) -> None:
        self._experiment = experiment
        self._folder = Path(tempfile.mkdtemp(prefix="fairx-audit-"))
        self.close = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._last = self._made = 0
        self._parts: list[tuple[int, Path]] = []

    def extend(self, database: Database) -> Path | None:
        """Take in what has become mature; return the folder, if there is anything in it."""
        try:
            self._take_in(database)
        except BaseException:  # half a file would count twice: begin again
            self._last, self._parts = 0, []
            for path in self._folder.iterdir():
                path.unlink()
            raise
        finally:
            pa.default_memory_pool().release_unused()  # or it would be kept for the next time
        return self._folder if self._parts else None

    def _take_in(self, database: Database) -> None:
        path = self._new_path()
        with path.open("wb") as file:
            pools = _Pools(database, self._experiment, {}, {})
            sql = MATURE.format(audited=audited(self._experiment.settings))
            rows, self._last = _write(file, pools, sql, self._last)
        self._parts.append((rows, path))
        while len(self._parts) > 1 and self._parts[-2][0] < 2 * self._parts[-1][0]:
            self._merge()
        if not self._parts[-1][0]:
            self._parts.pop()[1].unlink()

    def _merge(self) -> None:
        """Make one file of the last two."""
        path, parts = self._new_path(), [self._parts.pop(), self._parts.pop()]
        with pq.ParquetWriter(path, _schema(), compression="zstd") as writer:
            for _, part in reversed(parts):
                with pq.ParquetFile(part) as file:
                    for batch in file.iter_batches(CHUNK):
                        writer.write_batch(batch)
                part.unlink()
        self._parts.append((sum(rows for rows, _ in parts), path))

    def _new_path(self) -> Path:
        self._made += 1
        return self._folder / f"{self._made}.parquet"


def _write(file: Any, pools: _Pools, sql: str, last: int) -> tuple[int, int]:
    """Write the rows after `last` that count; return how many they are, and the last one read."""
    count = 0
    with pq.ParquetWriter(file, _schema(), compression="zstd") as writer:
        while read := pools.database.rows(sql, (pools.experiment.id, last, CHUNK)):
            last = read[-1][0]
            rows = [row for row in read if row[-1]]
            if rows:
                writer.write_table(_table(rows, pools))
            crash_points.reach("mid_export")
            count += len(rows)
    return count, last


def _table(rows: list[tuple[Any, ...]], pools: _Pools) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    numbers = [pools.number(row[6], row[3]) for row in rows]
    lists = list(pools.numbers)
    lengths = np.array([len(body) for body in columns[7]], np.int64) // 8
    ends = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    chances = np.frombuffer(b"".join(columns[7]))
    chosen = chances[ends[:-1] + np.array(columns[5])]
    names = [lists[pool][position] for pool, position in zip(numbers, columns[5], strict=True)]
    policy = type(pools.experiment.settings.policy).__name__
    data: dict[str, Any] = {
        "decision": pa.array(columns[1], pa.string()),
        "time": pa.array(columns[2], pa.float64()),
        "candidates": pa.array(lists, PLAIN).take(pa.array(numbers, pa.int32())),
        "arm": pa.array(names, pa.string()),
        "propensity": pa.array(chosen),
        "probabilities": pa.ListArray.from_arrays(pa.array(ends), pa.array(chances)),
        "reward": pa.array(columns[9], pa.float64()),
        "reward_time": pa.array(columns[11], pa.float64()),
        "policy": pa.array([policy] * len(rows), pa.string()),
        "version": pa.array([str(each) for each in columns[3]], pa.string()),
        "mature": pa.array([number is not None for number in columns[8]]),
        "rewards": pa.array(columns[10], pa.int64()),
        "late": pa.array(columns[12], pa.int64()),
        "shown": pa.array(columns[13], pa.float64()),
    }
    return pa.table(data)


def _schema() -> pa.Schema:
    texts = ("decision", "arm", "policy", "version")
    kinds: dict[str, Any] = dict.fromkeys(texts, pa.string())
    kinds |= {"candidates": PLAIN, "probabilities": pa.list_(pa.float64()), "mature": pa.bool_()}
    kinds |= dict.fromkeys(("rewards", "late"), pa.int64())
    order = (
        "decision", "time", "candidates", "arm", "propensity", "probabilities", "reward",
        "reward_time", "policy", "version", "mature", "rewards", "late", "shown",
    )  # fmt: skip
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in order])
