"""The fairness regret of each decision: how far its probabilities were from the fair ones."""

from __future__ import annotations

from typing import NamedTuple

from fairx.types import Vector

from .moments import Stretches
from .prepared import Prepared
from .result import Moment
from .shares import chances
from .sums import LogSums


class Regret(NamedTuple):
    """The fairness regret per decision, overall and over time."""

    value: float
    method: str
    over_time: tuple[Moment, ...]


def regret(tables: Prepared, sums: LogSums, logs: Vector, distance: float) -> Regret:
    """Return the mean of sum over arms of |fair - deployed|, with the merits that the log shows.

    With all probabilities that is exact. With propensities alone it is estimated: as both sum to 1,
    the regret is twice what arms have too much, whose unbiased estimate is 2 (1 - fair / propensity)
    of the arm that was chosen, or 0 where that is negative. It is between 0 and 2 itself, and arms
    that had no chance are in it. With neither, the distance of the average exposure is all that is
    known; by Jensen's inequality that of average probabilities is no larger than the regret.
    """
    if sums.inverse is None:
        return Regret(distance, "shows", ())
    pools, time = sums.pools, Stretches(sums.start, sums.stop)
    rows = tables.rows(sums.problems)
    found = tables.regrets(pools, chances(pools, logs), time.number, rows)
    value = float(found["regret"].sum() / pools.decisions.sum())
    method = "propensities" if sums.exposure is None else "probabilities"
    return Regret(value, method, time.moments(found))
