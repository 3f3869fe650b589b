"""Rows with problems: the first is refused where that is asked, or all are written down."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairx.files import replaced

from . import problems
from .locating import LINES, Where, located, torn
from .selecting import quoted

if TYPE_CHECKING:
    from .log import Log

FIRST = "SELECT row, problem FROM checked WHERE problem <> 0 ORDER BY row LIMIT 1"
ALL = """
SELECT row, problem{text} FROM (SELECT row, problem FROM checked WHERE problem <> 0){joined}
ORDER BY row
"""
JOINED = """
JOIN (SELECT row_number() OVER () AS row, of_file::VARCHAR AS text FROM ({sql}) AS of_file) USING (row)
"""


def refuse(log: Log) -> None:
    """Raise the first problem, with its file, line and column."""
    first = log.connection.execute(FIRST).fetchall()
    unreadable = log.unreadable()
    for row, bits in first:
        (where,) = located(log.connection, log.origin, [row])
        names = problems.names(bits)
        what, remedy = ", ".join(names), problems.remedies(names)
        raise ValueError(
            f"{where.words()} must be valid, not: {what}{_value(log, row, bits)}{remedy}"
        )
    for what in unreadable:
        where = next(torn(log.connection, log.origin))
        remedy = problems.remedies([what])
        raise ValueError(f"{where.words()} must be readable, not {where.text!r}: {what}{remedy}")


def write_problems(log: Log, path: str | os.PathLike[str]) -> int:
    """Write the rows with problems, and return how many there are."""
    count = 0
    log.problems()  # reads all lines, and refuses what cannot be told by them
    with replaced(Path(path)) as file:
        text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["file", "line", "problem", "text"])
        for cells in _cells(log):
            table.writerow(cells)
            count += 1
        text.detach()
    return count


def _cells(log: Log) -> Iterator[tuple[str, int, str, str]]:
    """Go through the rows with problems, and then the lines that could not be split."""
    for where, bits in _rows(log):
        yield where.file, where.line, "; ".join(problems.names(bits)), where.text
    for where in torn(log.connection, log.origin):
        yield where.file, where.line, problems.UNREADABLE, where.text


def _rows(log: Log) -> Iterator[tuple[Where, int]]:
    lines = log.kind in LINES
    joined = "" if lines else JOINED.format(sql=log.origin.sql)
    asked = ALL.format(text="" if lines else ", text", joined=joined)
    found: list[Any] = log.connection.execute(asked).fetchall()
    there = located(log.connection, log.origin, (row for row, *_ in found))
    for where, (_, bits, *text) in zip(there, found, strict=True):
        yield (where._replace(text=text[0]) if text else where), bits


def _value(log: Log, row: int, bits: int) -> str:
    """Return which column a row has its first problem in, and what it says there."""
    first = next(kind for bit, kind in enumerate(problems.ALL) if bits >> bit & 1)
    name = log.columns.get(first.column())
    if name is None:
        return ""
    sql = f"SELECT {quoted(name)}::VARCHAR FROM ({log.origin.sql}) LIMIT 1 OFFSET {row - 1}"
    return f" in column {name!r}, which says {log.connection.execute(sql).fetchone()[0]!r}"
