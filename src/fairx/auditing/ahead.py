"""Batches of a log, of which the next is read while one is worked on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

Batch = TypeVar("Batch")


def ahead(
    batches: Callable[[str], Generator[Batch, None, None]], rows: str
) -> Generator[Batch, None, None]:
    """Yield the batches of some rows, one read ahead by a thread; nobody may ask the log meanwhile."""
    with closing(batches(rows)) as some, ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, some, None)
        while (batch := coming.result()) is not None:
            coming = reader.submit(next, some, None)
            yield batch
