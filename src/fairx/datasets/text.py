"""Text files line by line, compressed or not."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairx.files import UNREADABLE

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


def each_line(path: Path, take: Callable[[str], None]) -> None:
    """Give every line to `take`, without the space around it; errors say which line it was."""
    number = 0
    # utf-8-sig: editors on Windows put a mark in front.
    with OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8-sig") as file:
        try:
            for number, line in enumerate(file, start=1):  # noqa: B007 - told to the user below
                take(line.strip())
        except UNREADABLE as error:
            raise ValueError(f"line {number}: {error}") from error
