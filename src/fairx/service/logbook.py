"""The decision log of a store as tables of Arrow: what `fairx.logs` reads and exports hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fairx.files import replaced
from fairx.store import points
from fairx.store.database import Database
from fairx.store.snapshots import ACTIVE, Experiment, arms_at

CHUNK = 20_000
ROWS = """
SELECT d.sequence, d.id, d.time, d.snapshot, d.arm, d.slot, d.candidates, d.probabilities,
  m.number, m.reward, m.rewards,
  (SELECT max(r.time) FROM rewards r WHERE r.decision = d.id AND r.late = 0),
  (SELECT count(*) FROM rewards r WHERE r.decision = d.id AND r.late = 1),
  (SELECT s.time FROM shown s WHERE s.decision = d.id AND s.late = 0)
FROM decisions d {join} JOIN matured m ON m.sequence = d.sequence
WHERE d.experiment = ? AND d.sequence > ? ORDER BY d.sequence LIMIT ?
"""
PLAIN = pa.list_(pa.string())


class _Offers(NamedTuple):
    """The sets of arms that were on offer, each once."""

    database: Database
    experiment: Experiment
    places: dict[tuple[bytes | None, int], int]
    lists: list[list[str]]

    def number(self, candidates: bytes | None, snapshot: int) -> int:
        """Return the number of the set that a decision was made from."""
        key = (candidates, 0 if candidates is not None else snapshot)
        if key not in self.places:
            self.places[key] = len(self.lists)
            self.lists.append(self._names(candidates, snapshot))
        return self.places[key]

    def _names(self, candidates: bytes | None, snapshot: int) -> list[str]:
        arms = arms_at(self.database, self.experiment.id, snapshot)
        if candidates is None:
            return [arm.name for arm in arms if arm.status == ACTIVE]
        return [arms[place].name for place in np.frombuffer(candidates, "<i4")]


def tables(database: Database, experiment: Experiment, *, mature: bool) -> Iterator[pa.Table]:
    """Yield the log in pieces: all decisions, or those that were learned from."""
    offers, last = _Offers(database, experiment, {}, []), 0
    sql = ROWS.format(join="" if mature else "LEFT")
    while rows := database.rows(sql, (experiment.id, last, CHUNK)):
        last = rows[-1][0]
        if mature and experiment.settings.requires_shown:
            rows = [row for row in rows if row[10] or row[13] is not None]
        if rows:
            yield _table(rows, offers, experiment)


def audited(database: Database, experiment: Experiment) -> pa.Table | None:
    """Return the log of all decisions that are mature, as the audit reads it fastest."""
    found = list(tables(database, experiment, mature=True))
    return pa.concat_tables(found).unify_dictionaries() if found else None


def export(database: Database, experiment: Experiment, path: str | os.PathLike[str]) -> int:
    """Write the log to a Parquet file, whole or not at all; return how many decisions it has."""
    count = 0
    with replaced(path) as file, pq.ParquetWriter(file, _schema(), compression="zstd") as writer:
        for table in tables(database, experiment, mature=False):
            place = table.schema.get_field_index("candidates")
            lists = table.column(place).combine_chunks()
            lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
            plain = lists.dictionary.take(lists.indices)
            writer.write_table(table.set_column(place, "candidates", plain))
            points.reach("mid_export")
            count += len(table)
    return count


def size_of(path: str | os.PathLike[str]) -> int:
    """Return the size of a file in bytes."""
    return Path(path).stat().st_size


def _table(rows: list[tuple[Any, ...]], offers: _Offers, experiment: Experiment) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    numbers = [offers.number(row[6], row[3]) for row in rows]
    lists = pa.array(offers.lists, PLAIN)
    lengths = np.array([len(body) for body in columns[7]], np.int64) // 8
    ends = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    chances = np.frombuffer(b"".join(columns[7]))
    chosen = chances[ends[:-1] + np.array(columns[5])]
    names = [offers.lists[number][slot] for number, slot in zip(numbers, columns[5], strict=True)]
    policy = type(experiment.settings.policy).__name__
    data: dict[str, Any] = {
        "decision": pa.array(columns[1], pa.string()),
        "time": pa.array(columns[2], pa.float64()),
        "candidates": pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), lists),
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
