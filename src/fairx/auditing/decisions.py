"""The decisions of a log in their order, some at a time, and what their pseudo-rewards add up to."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Indices, Vector

from .ahead import ahead
from .chosen import Shown, nothing_shown
from .families import Family
from .implied import Decisions
from .prepared import Prepared
from .regret import RegretSums
from .shares import Pools, summed
from .wealth import nothing

LOOKS = 20  # at which the sums are kept, to tell since when an arm is accused
MOST = 1 << 20  # candidates worked on at a time
FIRST, LAST, PART = 16, 1 << 14, 16  # decisions judged by one level: a 16th of those before
Batch = tuple[Vector, Callable[[int, int], Any]]  # times, and how to cut a piece out
Batches = Generator[Batch, None, None]
LISTINGS = """
SELECT listing, arm_number FROM (
  SELECT listing, unnest(candidates) AS arm, unnest(range(len(candidates))) AS position
  FROM listed SEMI JOIN used USING (pool)
) JOIN numbered USING (arm) ORDER BY listing, position
"""
IN_ORDER = """
SELECT coalesce({time}, 0) AS time, listing, list_position(candidates, arm) - 1 AS position,
  probabilities, reward
FROM {rows}
"""
ARMS_IN_ORDER = """
SELECT arm, coalesce({time}, 0)::DOUBLE AS time, pool, propensity, coalesce(reward, 'nan') AS reward
FROM {rows}
"""
NAMES = "SELECT arm FROM numbered ORDER BY arm_number"


class Look(NamedTuple):
    """The sums after some decisions: of arms, and of groups where there are any."""

    arms: Any  # Running, Weak or SlateRunning
    groups: Any  # the same, or None
    time: float


class Judge(NamedTuple):
    """What the decisions of a log are judged by."""

    merit: Family
    low: float  # reward
    high: float
    groups: Indices  # the number of each arm's group
    labels: int  # groups there are

    def scaled(self, rewards: Any) -> Vector:
        """Return a column of rewards as numbers from 0 to 1."""
        return (floats(rewards) - self.low) / (self.high - self.low)


def looks(tables: Prepared, rows: str, judge: Judge) -> tuple[Look, ...]:
    """Go through decisions with all of their probabilities, in their order."""
    arms = nothing(len(tables.arms))
    start = Look(arms, nothing(judge.labels) if judge.labels else None, -np.inf)

    def add(found: Look, some: Decisions, time: float) -> Look:
        groups = found.groups and found.groups.add(some, judge.merit, judge.groups)
        return Look(found.arms.add(some, judge.merit), groups, time)

    return _ordered(tables, rows, start, add, lambda some: _whole(tables, some, judge))


def weak_looks(
    tables: Prepared, rows: str, judge: Judge, pools: Pools, regrets: RegretSums | None = None
) -> tuple[Look, ...]:
    """Go through decisions of which only the propensity of the arm shown is known.

    What they regret is added up on the way, where it is asked for: that saves a pass.
    """
    sizes = summed(pools.pool, np.ones(pools.pool.size), pools.decisions.size)
    start = Look(nothing_shown(len(tables.arms), sizes.size), None, -np.inf)

    def add(found: Look, some: Shown, time: float) -> Look:
        return Look(found.arms.add(some, judge.merit, sizes), None, time)

    return _ordered(tables, rows, start, add, lambda some: _shown(tables, some, judge, regrets))


def _ordered(
    tables: Prepared, rows: str, start: Look, add: Callable[[Look, Any, float], Look],
    batches: Callable[[str], Batches],
) -> tuple[Look, ...]:  # fmt: skip
    """Return the sums at each look; decisions are sorted only where they are not in order."""
    ends = np.unique(np.linspace(0, tables.decisions, LOOKS + 1)[1:].round()).tolist()
    with closing(ahead(batches, rows)) as some:
        found = kept_looks(some, start, add, ends)
    if found is not None:
        return found
    with closing(ahead(batches, f"(SELECT * FROM {rows} ORDER BY time, row)")) as some:
        return kept_looks(some, start, add, ends) or ()


def kept_looks(
    batches: Iterator[Batch], found: Look, add: Callable[[Look, Any, float], Look],
    ends: list[float],
) -> tuple[Look, ...] | None:  # fmt: skip
    """Return the sums at each look; None where a decision was made before one above it."""
    kept = []
    for times, cut in batches:
        if np.diff(times, prepend=found.time).min() < 0:
            return None
        for first, last in _pieces(found.arms.decisions, times.size, ends):
            found = add(found, cut(first, last), float(times[last - 1]))
            if found.arms.decisions in ends:
                kept.append(found)
    return tuple(kept)


def _pieces(before: int, rows: int, ends: list[float]) -> Iterator[tuple[int, int]]:
    """Cut a batch where the level of rewards is to be learned anew, and where sums are kept."""
    first = 0
    while first < rows:
        done = before + first
        stop = min(end for end in ends if end > done) - done
        last = first + int(min(max(FIRST, done // PART), LAST, rows - first, stop))
        yield first, last
        first = last


def part(some: Decisions, first: int, last: int) -> Decisions:
    """Return the decisions from one on and up to another."""
    start = int(some.starts[first])
    stop = int(some.starts[last]) if last < some.starts.size else some.arms.size
    return Decisions(
        some.rewards[first:last],
        some.starts[first:last] - start,
        some.chosen[first:last] - start,
        some.arms[start:stop],
        some.chances[start:stop],
    )


def _whole(tables: Prepared, rows: str, judge: Judge) -> Batches:
    """Read decisions; the arms of a list of candidates are looked up by the list's number."""
    found = tables.log.query(LISTINGS)
    numbers = np.arange(int(found["listing"].max()) + 2)
    firsts, arms = np.searchsorted(found["listing"], numbers), found["arm_number"]
    wide = int(np.diff(firsts).max())
    for batch in tables.log.batches(_asked(IN_ORDER, tables, rows), max(1, MOST // wide)):
        lists = batch["probabilities"]
        offsets = np.asarray(lists.offsets).astype(np.int64)
        starts = offsets[:-1] - offsets[0]
        chances = np.asarray(lists.values)[offsets[0] : offsets[-1]]
        listing = np.asarray(batch["listing"])
        place = np.repeat(firsts[listing] - starts, np.diff(offsets)) + np.arange(chances.size)
        chosen = starts + np.asarray(batch["position"])
        some = Decisions(judge.scaled(batch["reward"]), starts, chosen, arms[place], chances)
        yield floats(batch["time"]), partial(part, some)


def _shown(tables: Prepared, rows: str, judge: Judge, regrets: RegretSums | None) -> Batches:
    """Read decisions of which one arm is known; it is looked up by its name."""
    import pyarrow as pa
    from pyarrow.compute import index_in

    # Columns without a gap, and names in Arrow's form: else pyarrow imports pandas, for 0.3 s.
    names = pa.chunked_array([some["arm"] for some in tables.log.batches(NAMES, MOST)])
    found = tables.log.query("SELECT pool, pool_number FROM used")
    pools = np.zeros(int(found["pool"].max()) + 1, np.int64)
    pools[found["pool"]] = found["pool_number"]
    if regrets is not None:
        regrets.found[:] = 0.0  # rows that are not in order are read twice
    for batch in tables.log.batches(_asked(ARMS_IN_ORDER, tables, rows), MOST // 8):
        arms = np.from_dlpack(index_in(batch["arm"], value_set=names)).astype(np.int64)
        columns: list[Any] = [np.from_dlpack(column) for column in batch.columns[1:]]
        times, pool, chances, rewards = columns
        some = Shown((rewards - judge.low) / (judge.high - judge.low), arms, pools[pool], chances)
        if regrets is not None:
            regrets.add(times, some)
        yield times, partial(_cut, some)


def _asked(sql: str, tables: Prepared, rows: str) -> str:
    return sql.format(time="time" if "time" in tables.log.columns else "0", rows=rows)


def _cut(some: Shown, first: int, last: int) -> Shown:
    return some.rows(slice(first, last))


def floats(column: Any) -> Vector:
    """Return numbers, NaN where missing."""
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
