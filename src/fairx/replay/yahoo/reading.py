"""Files of R6A, one a day: found, read as a stream, and kept as columns."""

from __future__ import annotations

import contextlib
import gzip
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from fairx import rules
from fairx.compiled import cache_directory
from fairx.errors import BrokenFile

from .cache import keep, kept, kept_about, path_for
from .lines import Lines
from .today import About, TodayLog, checked_sum, joined, joined_about

NAME = "ydata-fp-td-clicks-v1_0.200905{:02}"
OTHER = re.compile(r"ydata-fp-td-clicks-v2_0")
PIECE = 2**24  # bytes
DAYS = 10
GZIP = b"\x1f\x8b"


def load(days: Sequence[int], directory: str | os.PathLike[str] | None = None) -> TodayLog:
    """Return the log of some days of May 2009, from the files in a folder.

    Parameters
    ----------
    days
        From 1 to 10.
    directory
        Where the files are, compressed or not, instead of `FAIRX_DATA` or the cache.
    """
    return joined([read(path) for path in _paths(days, directory)])


def about(days: Sequence[int], directory: str | os.PathLike[str] | None = None) -> About:
    """Return what a report says of some days: once they are kept, without reading the events."""
    paths = _paths(days, directory)
    return joined_about([kept_about(path_for(path)) or read(path).about for path in paths])


def _paths(days: Sequence[int], directory: str | os.PathLike[str] | None) -> list[Path]:
    if not days:
        raise ValueError(f"days must be numbers from 1 to {DAYS}, not {days!r}")
    return [path_of(day, directory) for day in days]


def path_of(day: int, directory: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of a day, compressed or not, or say how to get it."""
    name = NAME.format(rules.count("day", day))
    chosen = directory or os.environ.get("FAIRX_DATA") or cache_directory().parent / "data"
    folder = Path(chosen).expanduser()
    for path in (folder / f"{name}.gz", folder / name):
        if path.exists():
            return path
    raise FileNotFoundError(
        f"{name}.gz is not in {folder}: ask Yahoo! Webscope for R6A and point FAIRX_DATA at it, or "
        "make up a log with: fairx data make-yahoo DIR"
    )


def read(path: str | os.PathLike[str]) -> TodayLog:
    """Return the log in a file, gzipped or plain; a second time, from the cache.

    What was mended or skipped is in its `counts`.
    """
    source = Path(path)
    if OTHER.search(source.name):
        raise ValueError(f"{source} must be a log of R6A (v1_0), not of R6B (v2_0)")
    cached = path_for(source)
    log = kept(cached)
    if log is None:
        log = parse(source)
        with contextlib.suppress(OSError):  # where nothing can be kept, it is parsed again
            keep(log, cached)
    return log


def parse(source: Path) -> TodayLog:
    """Return the log in a file, read from its text."""
    lines = Lines(str(source))
    rest = b""
    for piece in _pieces(source):
        *whole, rest = (rest + piece).split(b"\n")
        lines.take(whole)
    lines.take_last(rest)
    log = lines.log()
    if not log.times.size:
        raise BrokenFile(f"{source} must have events of R6A, but has none: {dict(lines.counts)}")
    return log._replace(checksum=checked_sum(log), source=source.name)


def _pieces(source: Path) -> Iterator[bytes]:
    """Yield the text of a file, whatever its name says of compression."""
    try:
        with _opened(source) as file:
            while piece := file.read(PIECE):
                yield piece
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BrokenFile(f"{source} is torn ({error}): get it again") from error


def _opened(source: Path) -> BinaryIO:
    with source.open("rb") as file:
        compressed = file.read(2) == GZIP
    return gzip.open(source) if compressed else source.open("rb")  # type: ignore[return-value]
