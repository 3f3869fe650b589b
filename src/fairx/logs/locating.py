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
from .sources import Source, globbed, literal

REJECTED = """
SELECT line FROM reject_errors JOIN reject_scans USING (scan_id, file_id) WHERE file_path = ?
"""


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


def _lines(connection: Any, source: Source) -> Iterator[Where]:
    """Go through the rows of files of text as DuckDB does: without what it could not read."""
    if source.kind == "csv":
        # So that it has told of all lines that it cannot read
        connection.execute(f"SELECT count(COLUMNS(*)) FROM ({source.sql})").fetchall()
    for file in source.files:
        told = connection.execute(REJECTED, [str(file)]).fetchall() if source.kind == "csv" else []
        rejected = {line for (line,) in told}
        with heads.binary(file) as stream:
            text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace", newline="")
            for line, words in LINES[source.kind](text, connection, file):
                if line not in rejected:
                    yield Where(str(file), line, words.rstrip("\r\n"), "line")


def _json(text: Iterable[str], _: Any, __: Path) -> Iterator[tuple[int, str]]:
    return ((line, words) for line, words in enumerate(text, 1) if words.strip())


def _csv(text: Iterable[str], connection: Any, file: Path) -> Iterator[tuple[int, str]]:
    """Go through the records after the header, each with the line that it begins at."""
    sniffed = f"SELECT delimiter, comment, skiprows FROM sniff_csv({literal(globbed(str(file)))}"
    mark, comment, skipped = connection.execute(f"{sniffed}, quote = '\"')").fetchone()
    taken: list[str] = []

    def fed() -> Iterator[str]:
        for line in text:
            taken.append(line)
            yield line

    start, header = 1, True
    for record in csv.reader(fed(), delimiter=mark):
        words, line = "".join(taken), start
        start, taken[:] = start + len(taken), []
        said = comment != "(empty)" and words.startswith(comment)
        if not record or line <= skipped or said:
            continue
        if not header:
            yield line, words
        header = False


LINES: dict[str, Callable[[Iterable[str], Any, Path], Iterator[tuple[int, str]]]] = {
    "csv": _csv,
    "json": _json,
}
