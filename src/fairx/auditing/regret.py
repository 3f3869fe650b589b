"""The fairness regret of each decision: how far its probabilities were from the fair ones."""

from __future__ import annotations

from typing import NamedTuple

from fairx.types import Vector

from .prepared import Prepared
from .result import Moment
from .shares import chances
from .sums import LogSums

MOMENTS = 40


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
    pools = sums.pools
    each = (sums.stop - sums.start) / MOMENTS if sums.stop > sums.start else 0.0
    # Times that are all the same, or not known, make one moment.
    moment = f"least(floor((time - {sums.start!r}) / {each!r}), {MOMENTS - 1})" if each else "0"
    rows = tables.rows(sums.problems)
    found = tables.regrets(pools, chances(pools, logs), moment, rows)
    value = float(found["regret"].sum() / pools.decisions.sum())
    method = "propensities" if sums.exposure is None else "probabilities"
    moments = zip(
        *(found[name].tolist() for name in ("moment", "decisions", "regret")), strict=True
    )
    starts = ((sums.start + i * each, int(n), total / n) for i, n, total in moments)
    over_time = tuple(Moment(start, start + each, n, mean) for start, n, mean in starts)
    return Regret(value, method, over_time if each else ())
