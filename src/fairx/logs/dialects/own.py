"""Our own columns, under our names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairx.logs.sources import Source

from .dialect import Dialect


def translated(connection: Any, source: Source, types: Mapping[str, str]) -> Source:
    """Return it as it is."""
    return source


DIALECT = Dialect(
    "fairx", (), (".parquet", ".jsonl", ".ndjson", ".csv"), (), True, translated, lambda log: dict
)
