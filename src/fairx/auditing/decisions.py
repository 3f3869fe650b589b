"""The decisions of a log in their order, some at a time, and what their pseudo-rewards add up to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Indices, Vector

from .implied import Decisions, Family
from .prepared import Prepared
from .wealth import Running, nothing

LOOKS = 20  # at which the sums are kept, to tell since when an arm is accused
MOST = 1 << 20  # candidates worked on at a time
FIRST, LAST, PART = 16, 4096, 16  # decisions judged by one level: a 16th of those before


class Look(NamedTuple):
    """The sums after some decisions: of arms, and of groups where there are any."""

    arms: Running
    groups: Running | None
    time: float


class Judge(NamedTuple):
    """What the decisions of a log are judged by."""

    merit: Family
    low: float  # reward
    high: float
    groups: Indices  # the number of each arm's group
    labels: int  # groups there are


class UnorderedError(Exception):
    """Raised where a decision was made before one that stands above it."""


def looks(tables: Prepared, rows: str, judge: Judge) -> tuple[Look, ...]:
    """Go through the decisions in their order; they are sorted only where they are not in it."""
    try:
        return tuple(_looks(tables, rows, judge))
    except UnorderedError:
        ordered = f"(SELECT * FROM {rows} ORDER BY time, row)"
        return tuple(_looks(tables, ordered, judge))


def _looks(tables: Prepared, rows: str, judge: Judge) -> Iterator[Look]:
    ends = np.unique(np.linspace(0, tables.decisions, LOOKS + 1)[1:].round()).tolist()
    found = Look(
        nothing(len(tables.arms)), nothing(judge.labels) if judge.labels else None, -np.inf
    )
    for some, times in _batches(tables, rows, judge):
        if np.diff(times, prepend=found.time).min() < 0:
            raise UnorderedError
        for first, last in _pieces(found.arms.decisions, times.size, ends):
            found = _added(found, part(some, first, last), float(times[last - 1]), judge)
            if found.arms.decisions in ends:
                yield found


def _added(found: Look, some: Decisions, time: float, judge: Judge) -> Look:
    groups = found.groups and found.groups.add(some, judge.merit, judge.groups)
    return Look(found.arms.add(some, judge.merit), groups, time)


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


def _batches(tables: Prepared, rows: str, judge: Judge) -> Iterator[tuple[Decisions, Vector]]:
    """Read decisions; the arms of a list of candidates are looked up by the list's number."""
    firsts, arms = tables.listings()
    wide = int(np.diff(firsts).max())
    for batch in tables.in_order(rows, max(1, MOST // wide)):
        lists = batch["probabilities"]
        offsets = np.asarray(lists.offsets).astype(np.int64)
        starts = offsets[:-1] - offsets[0]
        chances = np.asarray(lists.values)[offsets[0] : offsets[-1]]
        listing = np.asarray(batch["listing"])
        place = np.repeat(firsts[listing] - starts, np.diff(offsets)) + np.arange(chances.size)
        rewards = (_floats(batch["reward"]) - judge.low) / (judge.high - judge.low)
        some = Decisions(
            rewards, starts, starts + np.asarray(batch["position"]), arms[place], chances
        )
        yield some, _floats(batch["time"])


def _floats(column: Any) -> Vector:
    """Return numbers, NaN where missing."""
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
