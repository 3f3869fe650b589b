"""A log that the service keeps beside its store, whose rows may name their pool by its number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .log import Log
from .reading import read

POOLED = """
ALTER VIEW checked RENAME TO unpooled;
CREATE TEMP VIEW checked AS SELECT * REPLACE (stratum::BIGINT AS pool) FROM unpooled;
CREATE TEMP TABLE pools AS SELECT arms, pool FROM given
"""


def spooled(folder: Path, pools: Any | None, memory: str) -> Log:
    """Return the log of a folder, with the table of its pools, or None where rows have candidates.

    What does not fit into memory goes to a folder beside it.
    """
    # Decisions come first: one thread.
    log = read(folder, {"stratum": "pool"} if pools is not None else None, memory=memory, threads=1)
    log.connection.execute(f"SET temp_directory = '{folder}-spilled'")
    if pools is None:
        return log
    log.connection.register("given", pools)
    log.connection.execute(POOLED)
    columns = {ours: theirs for ours, theirs in log.columns.items() if ours != "stratum"}
    return log._replace(columns=columns | {"candidates": "pool"})
