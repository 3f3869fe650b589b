"""Arms that arrive while a log runs, where it does not say which arms were on offer."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairx.logs import Log
from fairx.types import Indices

GRID = 256  # stretches of time, at the start of which an arm may arrive
CHANCE = 1e-6  # below which an arm that was on offer would not have stayed unseen so long
SEEN = """
SELECT arm, min(start) AS start, max(stop) AS stop, sum(shows)::BIGINT AS shows
FROM cells WHERE problem = 0 GROUP BY arm ORDER BY arm
"""
STRETCHES = "SELECT {stretch} AS stretch, count(*) AS decisions FROM taken GROUP BY ALL"
POOL = "SELECT * REPLACE (list_extract({numbers}, {stretch} + 1) AS pool) FROM checked"


def arrivals(log: Log) -> tuple[str, dict[str, Any]]:
    """Return SQL of all rows with their pools, and these: arms that came late are not in the first.

    Both are empty where no arm came late: where each was shown before it could seem so.
    """
    seen = log.query(SEEN)
    if not seen["arm"].size:
        return "", {}
    start, stop = float(seen["start"].min()), float(seen["stop"].max())
    if not stop > start:
        return "", {}
    sql = f"least(floor((time - {start!r}) / {(stop - start) / GRID!r}), {GRID - 1})::BIGINT"
    first = np.minimum((seen["start"] - start) / (stop - start) * GRID, GRID - 1).astype(np.int64)
    if not _late(first / GRID, seen["shows"]).any():
        return "", {}
    found = log.query(STRETCHES.format(stretch=sql))
    decisions = np.bincount(found["stretch"], found["decisions"], GRID)
    before = (np.cumsum(decisions) - decisions) / decisions.sum()
    arrived = np.where(_late(before[first], seen["shows"]), first, 0)
    return _pooled(arrived, seen["arm"], sql)


def _late(unseen: Any, shows: Indices) -> Any:
    """Tell arms that were not seen in so large a part of the log, for which chance does not account."""
    return shows * np.log1p(-np.minimum(unseen, 1 - 1e-12)) < np.log(CHANCE)


def _pooled(arrived: Indices, names: Any, stretch: str) -> tuple[str, dict[str, Any]]:
    steps = np.unique(arrived)
    if steps.size < 2:
        return "", {}
    numbers = np.searchsorted(steps, np.arange(GRID), side="right") - 1
    members = [(pool, arm) for pool, step in enumerate(steps) for arm in names[arrived <= step]]
    pools = {
        "pool": np.array([pool for pool, _ in members]),
        "arm": np.array([arm for _, arm in members]),
    }
    return POOL.format(numbers=np.maximum(numbers, 0).tolist(), stretch=stretch), pools
