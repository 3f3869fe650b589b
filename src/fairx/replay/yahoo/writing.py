"""Logs in the format of R6A, quirks included: what `read` reads."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fairx import rules
from fairx.files import replaced

from .reading import NAME
from .synthetic import DAYS, made_up
from .today import TodayLog

MARKER = "SYNTHETIC.txt"
NOTE = """\
The files ydata-fp-td-clicks-v1_0.* in this folder were made up by fairx, from seed {seed}.
They have the format of the Yahoo! Today Module log (Webscope R6A), and nothing of its content.
"""
USER = b"user 2:%.6f 3:%.6f 4:%.6f 5:%.6f 6:%.6f 1:%.6f "
ARTICLE = b"|%d 2:%.6f 3:%.6f 4:%.6f 5:%.6f 6:%.6f 1:%.6f "
BARE = b"|%d 7:1.000000 "  # how article 109528 is written
RARE = 20_000  # lines to one of each quirk


def make_yahoo(
    directory: str | os.PathLike[str], *, days: int, events: int, seed: int, quirks: bool = True
) -> list[Path]:
    """Write made-up logs in the format of R6A, and return their files.

    Parameters
    ----------
    directory
        Where they go; logs that are there already are not replaced.
    days, events
        How many days, from 1 to 10, and events a day (the real ones have 4.6 million).
    seed
        The files are a function of it, of the day and of `events`.
    quirks
        Whether to include what is odd in the real files, which `read` counts.

    Examples
    --------
    >>> import tempfile
    >>> paths = make_yahoo(tempfile.mkdtemp(), days=2, events=100, seed=1)
    >>> [path.name for path in paths]
    ['ydata-fp-td-clicks-v1_0.20090501.gz', 'ydata-fp-td-clicks-v1_0.20090502.gz']
    """
    if rules.count("days", days) > DAYS:
        raise ValueError(f"days must be a whole number from 1 to {DAYS}, not {days}")
    rules.count("events", events)
    rules.count("seed", seed, low=0)
    folder = Path(directory)
    paths = [folder / f"{NAME.format(day + 1)}.gz" for day in range(days)]
    for path in paths:
        if path.exists() or path.with_suffix("").exists():
            raise FileExistsError(f"{path} is there already: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text(NOTE.format(seed=seed), "utf-8")
    for day, path in enumerate(paths, 1):
        write(path, made_up(day, events, seed), quirks=quirks)
    return paths


def write(path: Path, log: TodayLog, *, quirks: bool = False) -> None:
    """Write a log, the same bytes each time."""
    with (
        replaced(path) as file,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as packed,
    ):
        for line in _with_quirks(log) if quirks else _lines(log):
            packed.write(line)


def _lines(log: TodayLog) -> Iterator[bytes]:
    articles = [
        (ARTICLE % (name, *row[1:], row[0])) if any(row[1:]) else BARE % name
        for name, row in zip(log.articles, log.features.tolist(), strict=True)
    ]
    pools = [b"".join(articles[arm] for arm in pool) for pool in log.pools]
    names, rows = log.articles, log.users.astype(np.float64)
    columns: tuple[Any, ...] = (log.times, log.displayed, log.clicks, log.pool)
    columns = tuple(column.tolist() for column in columns)
    for seconds, arm, click, pool, row in zip(*columns, rows, strict=True):
        user = USER % (*row[1:], row[0])
        yield b"%d %d %d |%s%s\n" % (seconds, names[arm], click, user, pools[pool])


def _with_quirks(log: TodayLog) -> Iterator[bytes]:
    """Yield the lines of a log, some of them odd, and a few that are no events."""
    line = b""
    for number, line in enumerate(_lines(log)):
        head, user, pool = line.split(b"|", 2)
        if number % RARE == 0:
            yield b"%s 1 0 |%s|%s" % (head.split()[0], user, pool)  # displayed: not in its pool
        if number % RARE == 1:
            user += b"7:1.000000 "  # an unknown feature
        if number % RARE == 2:
            user = user.replace(b"6:", b"9:")  # and a missing one
        yield b"|".join((head, user, pool))
    yield b"\n"
    yield line[: len(line) // 2]
