"""What the pseudo-rewards of a log of slates add up to, and how they are read in their order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fairx.auditing.decisions import LOOKS, Batch, Look, floats, kept_looks
from fairx.auditing.families import Family
from fairx.auditing.shares import summed
from fairx.auditing.wealth import HALF, Evidence, Sums
from fairx.logs import Log
from fairx.types import Indices, Matrix, Vector

from .pages import Slates
from .pseudo import SlateValues, Told, grouped, told_by, values_of

MOST = 1 << 18  # slates worked on at a time are as many as have so many candidates
LISTINGS = """
SELECT listing, arm_number FROM (
  SELECT listing, unnest(candidates) AS arm, unnest(range(len(candidates))) AS position
  FROM listed SEMI JOIN page_kinds USING (pool)
) JOIN page_arms USING (arm) ORDER BY listing, position
"""
IN_ORDER = """
SELECT time, listing, exposures, weights, rewards,
  [list_position(candidates, one) - 1 for one in arms] AS shown
FROM (
  SELECT coalesce(min({time}), 0) AS time, min(row) AS row, arg_min(listing, place) AS listing,
    arg_min(candidates, place) AS candidates, arg_min(exposures, place) AS exposures,
    list(arm ORDER BY place) AS arms, list(weight ORDER BY place) AS weights,
    list(coalesce(reward, 'nan'::DOUBLE) ORDER BY place) AS rewards
  FROM taken_pages GROUP BY decision
) ORDER BY time, row
"""


class SlateRunning(NamedTuple):
    """The sums of a log of slates up to a decision, to which the next ones are added."""

    known: Sums
    least: Sums  # with the missing rewards that make each value least
    most: Sums
    contrasted: Vector  # exposure, where another arm was in the block
    decisions: int
    missing: int  # rewards
    impossible: int
    levels: Vector  # of rewards, by the number of a block on its page
    weights: Vector  # of what was seen of them

    def add(self, values: SlateValues, told: Told, exact: bool, decisions: int) -> SlateRunning:
        """Return the sums with those of the slates that come next."""
        arms = self.contrasted.size
        known, least, most = (
            before.merged(_summed(values, part, arms, exact))
            for before, part in zip(self[:3], values[1:4], strict=True)
        )
        return SlateRunning(
            known, least, most,
            self.contrasted + summed(values.arms, values.contrasted, arms),
            self.decisions + decisions, self.missing + told.missing,
            self.impossible + int(told.impossible.sum()), *self._levels(told),
        )  # fmt: skip

    def evidence(self) -> Evidence:
        """Return what speaks for either side."""
        sides = (self.known, self.known.turned(), self.least, self.most.turned())
        return Evidence(*sides, self.decisions, self.missing)

    def _levels(self, told: Told) -> tuple[Vector, Vector]:
        """Return what rewards average to of late, block by block."""
        counts = np.bincount(told.number, minlength=self.levels.size)
        kept = self.weights * 0.5 ** (counts / HALF)
        weights = kept + counts
        sums = kept * self.levels + summed(told.number, told.seen, self.levels.size)
        return np.clip(sums / weights, 0.0, 1.0), weights


class SlateJudge(NamedTuple):
    """What slates are judged by."""

    merit: Family
    low: float  # reward
    high: float
    groups: Indices  # the number of each arm's group
    labels: int
    clicks: bool

    def add(self, found: Look, some: Slates, time: float) -> Look:
        """Return the sums with the slates that come next."""
        told = told_by(some, self.merit, found.arms.levels, self.clicks)
        exact, size = bool(self.merit.steepness), some.starts.size
        groups = found.groups
        if groups is not None:
            values = grouped(told.points, self.groups, self.labels, exact)
            groups = groups.add(values, told, exact, size)
        values = values_of(told.points, exact)
        return Look(found.arms.add(values, told, exact, size), groups, time)


def no_slates(arms: int, places: int) -> SlateRunning:
    """Return the sums before the first slate.

    Examples
    --------
    >>> no_slates(arms=3, places=2).levels
    array([0.5, 0.5, 0.5])
    """
    none = Sums(np.zeros((4, arms)), *np.zeros((3, arms)))
    levels = np.full(places + 1, 0.5)
    return SlateRunning(none, none, none, np.zeros(arms), 0, 0, 0, levels, np.ones(places + 1))


def slate_looks(
    log: Log, arms: int, places: int, decisions: int, judge: SlateJudge
) -> tuple[Look, ...]:
    """Go through the slates of a log in their order; return the sums at each look."""
    ends = np.unique(np.linspace(0, decisions, LOOKS + 1)[1:].round()).tolist()
    groups = no_slates(judge.labels, places) if judge.labels else None
    start = Look(no_slates(arms, places), groups, -np.inf)
    return kept_looks(_batches(log, judge), start, judge.add, ends) or ()


def _batches(log: Log, judge: SlateJudge) -> Iterator[Batch]:
    """Read slates; the arms of a list of candidates are looked up by the list's number."""
    found = log.query(LISTINGS)
    numbers = np.arange(int(found["listing"].max()) + 2)
    firsts, arms = np.searchsorted(found["listing"], numbers), found["arm_number"]
    size = max(1, MOST // int(np.diff(firsts).max()))
    time = "time" if "time" in log.columns else "0"
    for batch in log.batches(IN_ORDER.format(time=time), size):
        starts, exposures = _lists(batch["exposures"])
        places, weights = _lists(batch["weights"])
        rewards = (_lists(batch["rewards"])[1] - judge.low) / (judge.high - judge.low)
        sizes = np.diff(starts, append=exposures.size)
        listing = np.asarray(batch["listing"])
        entry = np.repeat(firsts[listing] - starts, sizes) + np.arange(exposures.size)
        rows = np.repeat(starts, np.diff(places, append=weights.size))
        shown = rows + _lists(batch["shown"])[1].astype(np.int64)
        some = Slates(starts, arms[entry], exposures, places, shown, weights, rewards)
        yield floats(batch["time"]), partial(Slates.part, some)


def _lists(column: Any) -> tuple[Indices, Vector]:
    """Return where each list of a column starts, and all of their numbers."""
    offsets = np.asarray(column.offsets).astype(np.int64)
    values = np.asarray(column.values)[offsets[0] : offsets[-1]]
    return offsets[:-1] - offsets[0], values.astype(np.float64)


def _summed(values: SlateValues, value: Vector, arms: int, exact: bool) -> Sums:
    squares, noise = value * value, np.zeros(value.size)
    powers: Matrix = np.array(
        [summed(values.arms, part, arms) for part in (value, squares, squares * value, squares**2)]
    )
    noise = noise if exact else values.counter * values.counter
    others = (values.counter, noise, values.shared)
    return Sums(powers, *(summed(values.arms, part, arms) for part in others))
