"""One experiment as if nothing of it were archived: its lines in the store and in files, in a store of their own.

It is a temporary file of SQLite, so that whatever reads a store reads it: verification, exports, audits.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import scratch
from ..database import Database, Row, grouped
from ..sqlite import SQLite
from .files import CHUNK, SCHEMAS, read_lines
from .record import folder_of, parts

POOLS = 128  # in memory at once
# Tables, by what tells their rows apart, and how many columns that is.
COPIED = {
    "arms": "version, place", "decisions": "sequence", "waiting": "sequence", "shown": "decision",
    "rewards": "decision, id", "matured": "number", "statistics": "experiment", "snapshots": "version",
    "checkpoints": "watermark",
}  # fmt: skip


@contextmanager
def rejoined(database: Database, experiment: int, archive: Path | None) -> Iterator[Database]:
    """Make the store of an experiment whole, for as long as it is read."""
    if not parts(database, experiment):
        yield database
        return
    folder = scratch.folder("rejoined-")
    try:
        _fill(folder / "store.db", database, experiment, folder_of(database, archive))
        whole = SQLite(folder / "store.db", write=False)
        try:
            yield whole
        finally:
            whole.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _fill(path: Path, database: Database, experiment: int, archive: Path) -> None:
    target = SQLite(path, write=True)
    try:
        target.rows("PRAGMA synchronous = OFF")  # it is not kept
        with target.transaction():
            _copy(
                target,
                "experiments",
                database.rows("SELECT * FROM experiments WHERE id = ?", (experiment,)),
            )
            for rows in _pools(database):
                _copy(target, "pools", rows)
            for table, order in COPIED.items():
                for rows in _stored(database, table, order, experiment):
                    _copy(target, table, rows)
            for part in parts(database, experiment):
                for rows in read_lines(archive, part):
                    _copy(target, part.kind, rows, SCHEMAS[part.kind].names)
    finally:
        target.close()


def _pools(database: Database) -> Iterator[list[Row]]:
    """Yield lists of candidates, few at a time: one of 10,000 arms has 80 kilobytes."""
    sql = f"SELECT digest, candidates FROM pools{{}} ORDER BY digest LIMIT {POOLS}"
    found = database.rows(sql.format(""))
    while found:
        yield found
        found = database.rows(sql.format(" WHERE digest > ?"), found[-1][:1])


def _stored(database: Database, table: str, order: str, experiment: int) -> Iterator[list[Row]]:
    count = order.count(",") + 1
    sql = f"SELECT {order}, {table}.* FROM {table} WHERE experiment = ?{{}} ORDER BY {order} LIMIT {CHUNK}"
    found = database.rows(sql.format(""), (experiment,))
    while found:
        yield [row[count:] for row in found]
        after = f" AND ({order}) > ({', '.join('?' * count)})"
        found = database.rows(sql.format(after), (experiment, *found[-1][:count]))


def _copy(target: Database, table: str, rows: list[Row], names: list[str] | None = None) -> None:
    columns = "" if names is None else f" ({', '.join(names)})"
    for marks, values in grouped(rows):
        target.rows(f"INSERT INTO {table}{columns} VALUES {marks}", values)
