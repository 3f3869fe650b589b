"""Where a row is: the file, and the line of it. Files are read again, so only where it is asked."""

from __future__ import annotations

import csv
import io
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

from . import heads
from .sources import CSV, Source, globbed, literal


class Where(NamedTuple):
    """A row in its file: its line, or its number where there are no lines, and how it is written."""

    file: str
    line: int
    text: str
    unit: str  # line or row

    def words(self) -> str:
        """Return where it is, for a message."""
        return f"{self.unit} {self.line} of {self.file}"


def located(connection: Any, source: Source, rows: Iterable[int]) -> Iterator[Where]:
    """Go to rows, which are numbered from 1 on and ascend, and tell where each is."""
    if source.kind in LINES:
        there, passed = _lines(connection, source), 0
        for row in rows:
            yield next(islice(there, row - passed - 1, None))
            passed = row
        return
    files, counts = zip(*_counts(connection, source), strict=True)
    ends = list(accumulate(counts))
    for row in rows:
        i = bisect_left(ends, row)
        yield Where(files[i], row - (ends[i] - counts[i]), "", "row")


def _counts(connection: Any, source: Source) -> list[tuple[str, int]]:
    """Return how many rows each file has."""
    if len(source.files) < 2:
        (count,) = connection.execute(f"SELECT count(*) FROM ({source.sql})").fetchone()
        return [(source.name, count)]
    asked = "SELECT count(*) FROM read_parquet("
    return [
        (str(file), connection.execute(f"{asked}{literal(globbed(str(file)))})").fetchone()[0])
        for file in source.files
    ]


def torn(connection: Any, source: Source) -> Iterator[Where]:
    """Go to the lines of CSV that have more or fewer columns than the first."""
    return _lines(connection, source, whole=False) if source.kind == "csv" else iter(())


def _lines(connection: Any, source: Source, whole: bool = True) -> Iterator[Where]:
    """Go through the rows of files of text as DuckDB does, or through what it could not split.

    It tells lines of its own, but counts a row over several lines as one.
    """
    for file in source.files:
        with heads.binary(file) as stream:
            text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
            for line, words, fits in LINES[source.kind](text, connection, file):
                if fits == whole:
                    yield Where(str(file), line, words.rstrip("\r\n"), "line")


def _json(text: Iterable[str], _: Any, __: Path) -> Iterator[tuple[int, str, bool]]:
    return ((line, words, True) for line, words in enumerate(text, 1) if words.strip())


def _csv(text: Iterable[str], connection: Any, file: Path) -> Iterator[tuple[int, str, bool]]:
    """Go through the records after the header, each with the line that it begins at."""
    asked = f"sniff_csv({literal(globbed(str(file)))}, {CSV}, ignore_errors = true)"
    sniffed = f"SELECT delimiter, comment, skiprows FROM {asked}"
    mark, comment, skipped = connection.execute(sniffed).fetchone()
    taken: list[str] = []

    def fed() -> Iterator[str]:
        for line in text:
            taken.append(line)
            yield line

    start, columns = 1, 0
    for record in csv.reader(fed(), delimiter=mark):
        words, line = "".join(taken), start
        start, taken[:] = start + len(taken), []
        said = comment != "(empty)" and words.startswith(comment)
        if line <= skipped or said or (columns != 1 and not record):
            continue
        if columns:  # a mark at the end of a line does no harm
            beyond = len(record) == columns + 1 and not record[-1]
            yield line, words, max(len(record), 1) == columns or beyond
        columns = columns or len(record)


LINES: dict[str, Callable[[Iterable[str], Any, Path], Iterator[tuple[int, str, bool]]]] = {
    "csv": _csv,
    "json": _json,
}
