"""A log that stays where it is: questions go to it, answers come back."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from . import heads, problems
from .sources import Source, readable

AHEAD = "16MB"  # read ahead of a stream, while what came is worked on
REJECTED = """
SELECT DISTINCT file_path, line FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
"""
SPOILED = """
SELECT file_path, line, error_type FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
WHERE error_type = 'UNQUOTED VALUE' OR starts_with(error_type, 'INVALID') ORDER BY ALL LIMIT 1
"""
SPOILS = {
    "quote": ("close the quote that it opens", "what follows cannot be told apart"),
    "UTF-8": ("be in UTF-8", heads.TO_UTF8.format(encoding="latin1")),
}


class Log(NamedTuple):
    """A decision log, made by `read`.

    `query` runs SQL over `valid`, the rows without problems, and `checked`, all of them with their
    `problem`. Both have the columns of `COLUMNS` and `pool`, the number of the set of candidates;
    where candidates were logged, also `listing`, the number of their list in its order, and the table
    `pools` has the sorted `arms` of each `pool`.
    """

    connection: Any
    source: str
    columns: Mapping[str, str]  # those that the log has, and what it calls them
    kind: str  # parquet, csv, json or table
    dated: bool  # whether times are seconds since 1970
    others: tuple[str, ...]  # columns that are none of ours
    origin: Source

    def query(self, sql: str, values: Sequence[Any] = ()) -> dict[str, npt.NDArray[Any]]:
        """Return the columns that a query over `valid` or `checked` yields, as arrays."""
        found: dict[str, npt.NDArray[Any]]
        with readable(self.source):
            found = self.connection.execute(sql, list(values)).fetchnumpy()
        return found

    def batches(self, sql: str, size: int) -> Iterator[Any]:
        """Go through what a query yields as batches of Arrow, in the order of the rows."""
        import duckdb

        self.query("SELECT 1 AS done")  # ends what was read in part: DuckDB has one open at a time
        threads = self.query("SELECT current_setting('threads') AS number")["number"][0]
        try:
            # Rows that are looked up in a table come out of order where threads share them.
            self.connection.execute(f"SET threads = {1 if self.joined() else threads}")
            self.connection.execute(f"SET streaming_buffer_size = '{AHEAD}'")
            asked = self.connection.sql(sql)
            reader = getattr(asked, "to_arrow_reader", None) or asked.fetch_record_batch
            with reader(size) as stream:
                yield from stream
        finally:
            with contextlib.suppress(duckdb.ConnectionException):  # closed before all was read
                self.connection.execute(f"SET threads = {threads}")

    def in_order(self, names: Sequence[str]) -> Any:
        """Return columns of the valid rows in the order of time, as a table that speaks Arrow."""
        order = "ORDER BY time, row" if "time" in self.columns else ""
        if not order and self.joined():  # here threads stay, so that rows are to be sorted
            order = "ORDER BY row"
        self.query("SELECT 1 AS done")  # ends what was read in part: DuckDB has one open at a time
        return self.connection.sql(f"SELECT {', '.join(names)} FROM valid {order}")

    def counts(self) -> tuple[int, int]:
        """Return how many rows there are, and how many of them are valid."""
        sql = "SELECT count(*) AS rows, count(*) FILTER (problem = 0) AS valid FROM checked"
        found = self.query(sql)
        return int(found["rows"][0]), int(found["valid"][0])

    def problems(self) -> dict[str, int]:
        """Return how many rows have each kind of problem; a row may have several."""
        found = self.query("SELECT problem, count(*) AS rows FROM checked GROUP BY ALL")
        return problems.counted(found["problem"], found["rows"]) | self.unreadable()

    def unreadable(self) -> dict[str, int]:
        """Return how many lines could not be split into columns by the passes so far.

        Lines that are not UTF-8, and a quote without an end, are refused: an arm, or all that follows,
        would be lost.
        """
        if self.kind == "json":
            heads.refuse_bytes(self.origin.files)
        if self.kind != "csv" or not self._has({"reject_errors"}):  # or there was no pass yet
            return {}
        for file, line, error in self.connection.execute(SPOILED).fetchall():
            rule, remedy = SPOILS["quote" if "QUOTE" in error else "UTF-8"]
            raise ValueError(f"line {line} of {file} must {rule}: {remedy}")
        (count,) = self.connection.execute(f"SELECT count(*) FROM ({REJECTED})").fetchone()
        return {problems.UNREADABLE: count} if count else {}

    def write_problems(self, path: str | os.PathLike[str]) -> int:
        """Write the rows with problems as CSV: file, line, problem and text; return how many."""
        from .exporting import write_problems

        return write_problems(self, path)

    def joined(self) -> bool:
        """Tell whether rows are looked up in a table."""
        return self._has({"listed", "repeated", "firsts", "again", "bad", "broken"})

    def _has(self, some: set[str]) -> bool:
        tables = self.query("SELECT table_name AS name FROM duckdb_tables()")["name"].tolist()
        return not some.isdisjoint(tables)

    def write(self, path: str | os.PathLike[str], dialect: str | None = None) -> int:
        """Write the valid rows under our names and in our types, or in a dialect; return how many.

        Without `dialect`, the ending of the path decides: .dsjson, .zip (coba), or our own as .parquet,
        .jsonl or .csv.
        """
        from .converting import write

        return write(self, Path(path), dialect)
