"""Anchors: an export says how many lines were sealed, and later whether the store went back.

Who can put all tables back to an earlier moment puts the seals back too, but not an export that is
kept elsewhere.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

import pyarrow.parquet as pq

from fairx.errors import BrokenFile

from .archives.record import archived_among
from .database import Database, rows_among
from .sealing import ALL
from .seals import is_sealed

NAME = b"fairx seals"
SQL = "SELECT experiment, kind, lines FROM seals WHERE experiment IN (?, ?)"
CHUNK = 1000


def anchor(database: Database, experiment: int) -> dict[bytes, bytes]:
    """Return what an export of an experiment keeps with it."""
    if not is_sealed(database):
        return {}
    rows = database.rows(SQL, (ALL, experiment))
    return {NAME: json.dumps(rows).encode()}


def behind(database: Database, path: str | os.PathLike[str]) -> list[str]:
    """Return in what a store is behind an export of before, in words."""
    with pq.ParquetFile(path) as file:
        found = (file.schema_arrow.metadata or {}).get(NAME)
        if found is None:
            raise BrokenFile(f"{path} must be an export of a store with seals")
        return [*_fewer(database, json.loads(found)), *_gone(database, file)]


def _fewer(database: Database, rows: list[list[Any]]) -> list[str]:
    """Compare how many lines there were."""
    then: Counter[tuple[int, str]] = Counter()
    now: Counter[tuple[int, str]] = Counter()
    for experiment, kind, lines in rows:
        then[experiment, kind] += lines
    for experiment, kind, lines in database.rows("SELECT experiment, kind, lines FROM seals"):
        now[experiment, kind] += lines
    return [
        f"the export knows of {count} lines of {kind}, the store of {now[experiment, kind]}: "
        "it was put back to an earlier moment"
        for (experiment, kind), count in then.items()
        if now[experiment, kind] < count
    ]


def _gone(database: Database, file: pq.ParquetFile) -> list[str]:
    """Look for each decision of the export, with its time."""
    missing = 0
    for batch in file.iter_batches(CHUNK, columns=["decision", "time"]):
        wanted = dict(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        sql = "SELECT id, time FROM decisions WHERE id IN ({})"
        there: dict[str, float] = dict(rows_among(database, sql, list(wanted)))
        gone = [id_ for id_, time in wanted.items() if there.get(id_) != time]
        missing += len(set(gone) - archived_among(database, gone))
    return [f"{missing} decisions of the export are not in the store"] if missing else []
