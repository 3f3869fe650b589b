"""A log written down: as Parquet, or row by row in the dialect of others."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from fairx.files import replaced

from .columns import COLUMNS
from .dialects import Dialect, known
from .interactions import write as write_interactions
from .log import Log
from .sources import literal, readable

INFERRED = {".dsjson": "dsjson", ".zip": "coba"}
SIZE = 10_000  # rows at a time
DATES = ("time", "reward_time")


def write(log: Log, path: Path, dialect: str | None) -> int:
    """Write the valid rows, and return how many."""
    packed = path.suffix == ".gz" and Path(path.stem).suffix not in (".parquet", ".zip")
    ending = Path(path.stem if packed else path.name).suffix.lower()
    to = known(dialect or INFERRED.get(ending, "fairx"))
    _check(log, to, ending, path)
    rows = int(log.query("SELECT count(*) AS rows FROM valid")["rows"][0])
    if not rows:
        raise ValueError(f"{log.source} must have a valid row to write, but has: {log.problems()}")
    if ending == ".parquet":
        order = "ORDER BY row" if log.joined() else ""
        asked = f"SELECT {', '.join(_names(log))} FROM valid {order}"
        with readable(log.source):
            log.connection.execute(f"COPY ({asked}) TO {literal(str(path))} (FORMAT parquet)")
    else:
        made = map(to.maker(log), _rows(log))
        WRITERS[ending](path, made)
    return rows


def _check(log: Log, to: Dialect, ending: str, path: Path) -> None:
    """Refuse what a dialect cannot hold."""
    if ending not in to.endings:
        raise ValueError(
            f"path must end in {' or '.join(to.endings)} for {to.name}, not {str(path)!r}"
        )
    if "place" in log.columns and not to.slates:
        raise ValueError(
            f"{to.name} must have one arm for each decision, not slates: use open-bandit"
        )
    for name in to.needs:
        if name not in _names(log):
            raise ValueError(f"{to.name} needs {name}: {COLUMNS[name]}")


def _names(log: Log) -> list[str]:
    """Return our columns that the log has, and the propensity where it is looked up."""
    there = set(log.columns) | ({"propensity"} if "probabilities" in log.columns else set())
    return [name for name in COLUMNS if name in there]


def _rows(log: Log) -> Iterator[dict[str, Any]]:
    names = _names(log)
    dates = [name for name in DATES if name in names and log.dated]
    for batch in log.batches(f"SELECT {', '.join(names)} FROM valid", SIZE):
        for row in batch.to_pylist():
            yield row | {name: instant(row[name]) for name in dates}


def instant(time: float | None) -> str | None:
    """Return a date to the microsecond, in UTC.

    Examples
    --------
    >>> instant(1767225600.5)
    '2026-01-01T00:00:00.500000Z'
    """
    return None if time is None else f"{np.datetime64(round(time * 1e6), 'us')}Z"


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with _text(path) as file:
        for row in rows:
            file.write(json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n")


def _write_csv(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    there = iter(rows)
    first = next(there)
    with _text(path) as file:
        table = csv.DictWriter(file, list(first), lineterminator="\n")
        table.writeheader()
        for row in chain([first], there):
            if len(row) != len(first):
                remedy = "write JSON lines instead"
                raise ValueError(f"context must be as long in each row of {path.name}: {remedy}")
            table.writerow({name: _cell(value) for name, value in row.items()})


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


@contextmanager
def _text(path: Path) -> Iterator[IO[str]]:
    with replaced(path) as raw:
        packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else raw
        text = io.TextIOWrapper(packed, "utf-8", newline="")
        yield text
        text.flush()
        text.detach()
        if packed is not raw:
            packed.close()


WRITERS = {
    ".csv": _write_csv,
    ".zip": write_interactions,
    **dict.fromkeys((".jsonl", ".ndjson", ".json", ".dsjson"), _write_lines),
}
