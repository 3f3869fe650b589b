"""The fairness regret of each decision: how far its probabilities were from the fair ones."""

from __future__ import annotations

from typing import NamedTuple

from fairx.logs import Log
from fairx.types import Vector

from .result import Moment
from .shares import chances
from .tally import Tally

MOMENTS = 40
FAIR = """
CREATE OR REPLACE TEMP TABLE fair AS
SELECT pool, arm, share FROM members JOIN arms USING (id)
JOIN (SELECT pool, row_number() OVER (ORDER BY pool) - 1 AS place FROM offers) USING (place)
"""
FROM_VECTORS = """
SELECT moment, sum(abs(share - chance)) AS regret, count(*) FILTER (place = 0) AS decisions
FROM (
  SELECT {moment} AS moment, pool, unnest(candidates) AS arm, unnest(probabilities) AS chance,
    unnest(range(len(candidates))) AS place
  FROM {rows}
) JOIN fair USING (arm, pool) GROUP BY moment ORDER BY moment
"""
FROM_PROPENSITIES = """
SELECT {moment} AS moment, sum(2 * greatest(0, 1 - share / propensity)) AS regret,
  count(*) AS decisions
FROM {rows} JOIN fair USING (arm, pool) GROUP BY moment ORDER BY moment
"""


class Regret(NamedTuple):
    """The fairness regret per decision, overall and over time."""

    value: float
    method: str
    over_time: tuple[Moment, ...]


def regret(log: Log, tally: Tally, logs: Vector, distance: float) -> Regret:
    """Return the mean of sum over arms of |fair - deployed|, with the merits that the log shows.

    With all probabilities that is exact. With propensities alone it is estimated: as both sum to 1,
    the regret is twice what arms have too much, whose unbiased estimate is 2 (1 - fair / propensity)
    of the arm that was chosen, or 0 where that is negative. It is between 0 and 2 itself, and arms
    that had no chance are in it. With neither, the distance of the average exposure is all that is
    known; by Jensen's inequality that of average probabilities is no larger than the regret.
    """
    if tally.inverse is None:
        return Regret(distance, "shows", ())
    pools = tally.pools
    members = {"place": pools.pool, "id": pools.arm, "share": chances(pools, logs)}
    log.connection.register("members", members)
    log.connection.execute(FAIR)
    vectors = tally.exposure is not None
    each = (tally.stop - tally.start) / MOMENTS if tally.stop > tally.start else 0.0
    # Times that are all the same, or not known, make one moment.
    moment = f"least(floor((time - {tally.start!r}) / {each!r}), {MOMENTS - 1})" if each else "0"
    sql = (FROM_VECTORS if vectors else FROM_PROPENSITIES).format(
        moment=moment,
        rows="valid" if tally.problems else "checked",  # the latter need not be checked again
    )
    found = log.query(sql)
    value = float(found["regret"].sum() / pools.decisions.sum())
    method = "probabilities" if vectors else "propensities"
    rows = zip(*(found[name].tolist() for name in ("moment", "decisions", "regret")), strict=True)
    starts = ((tally.start + i * each, int(n), total / n) for i, n, total in rows)
    over_time = tuple(Moment(start, start + each, n, mean) for start, n, mean in starts)
    return Regret(value, method, over_time if each else ())
