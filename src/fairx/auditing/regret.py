"""The fairness regret of each decision: how far its probabilities were from the fair ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.types import Matrix, Vector

from .chosen import Shown
from .moments import MOMENTS, Stretches
from .prepared import Columns, Prepared
from .result import Moment
from .shares import chances
from .sums import LogSums

MOST = 1 << 22  # pools times arms, of which a table is kept


class RegretSums(NamedTuple):
    """Regrets of the arms shown, added up while their decisions are read for something else."""

    time: Stretches
    fair: Matrix  # the share of each arm in each pool
    found: Matrix  # regrets and decisions of each stretch of time, which grow

    def add(self, times: Vector, some: Shown) -> None:
        """Add decisions, as `Prepared.regrets` does in SQL."""
        shares = (
            self.fair[0, some.arms] if len(self.fair) == 1 else self.fair[some.pools, some.arms]
        )
        regrets = 2 * np.maximum(1 - shares / some.propensities, 0.0)
        first, last = (int(self._number(end)) for end in (times.min(), times.max()))
        if first == last:  # as in most batches of a log that is in order
            self.found[:, first] += regrets.sum(), times.size
            return
        numbers = self._number(times).astype(np.int64)
        self.found[0] += np.bincount(numbers, regrets, MOMENTS)
        self.found[1] += np.bincount(numbers, minlength=MOMENTS)

    def _number(self, times: Vector) -> Vector:
        """Return the stretch of each time; all are in one where times are not known."""
        if not self.time.each:
            return np.zeros_like(times)
        passed = np.floor((times - self.time.start) / self.time.each)
        return np.asarray(np.minimum(passed, MOMENTS - 1))

    def columns(self) -> Columns:
        """Return the sums of the stretches that have decisions."""
        moments = np.flatnonzero(self.found[1])
        regrets, decisions = self.found[:, moments]
        return {"moment": moments, "regret": regrets, "decisions": decisions.astype(np.int64)}


def no_regrets(sums: LogSums, logs: Vector) -> RegretSums | None:
    """Return sums of nothing yet, by the logarithms of merits; None where pools are too many."""
    pools, shape = sums.pools, (sums.pools.decisions.size, logs.size)
    if shape[0] * shape[1] > MOST:
        return None
    fair = np.zeros(shape)
    fair[pools.pool, pools.arm] = chances(pools, logs)
    return RegretSums(Stretches(sums.start, sums.stop), fair, np.zeros((2, MOMENTS)))


class Regret(NamedTuple):
    """The fairness regret per decision, overall and over time."""

    value: float
    method: str
    over_time: tuple[Moment, ...]


def regret(
    tables: Prepared, sums: LogSums, logs: Vector, distance: float, told: Columns | None = None
) -> Regret:
    """Return the mean of sum over arms of |fair - deployed|, with the merits that the log shows.

    With all probabilities that is exact. With propensities alone it is estimated: as both sum to 1,
    the regret is twice what arms have too much, whose unbiased estimate is 2 (1 - fair / propensity)
    of the arm that was chosen, or 0 where that is negative. It is between 0 and 2 itself, and arms
    that had no chance are in it. With neither, the distance of the average exposure is all that is
    known; by Jensen's inequality that of average probabilities is no larger than the regret.
    `told` are sums that were added up before; else the log is read once more.
    """
    if sums.inverse is None:
        return Regret(distance, "shows", ())
    pools, time = sums.pools, Stretches(sums.start, sums.stop)
    rows = tables.rows(sums.problems)
    found = told or tables.regrets(pools, chances(pools, logs), time.number, rows)
    value = float(found["regret"].sum() / pools.decisions.sum())
    method = "propensities" if sums.exposure is None else "probabilities"
    return Regret(value, method, time.moments(found))
