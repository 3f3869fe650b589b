"""Strata for the box: parts of a log within which the mean of an arm does not vary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.logs import Log
from fairx.types import Indices

from .prepared import ALL, Columns, Prepared
from .shares import Pools
from .sums import LogSums

TIMES = {
    "time:hour": "(floor(time / 3600) % 24)::BIGINT",  # of the day
    "time:day": "floor(time / 86400)::BIGINT",
}


STRATA = """
CREATE OR REPLACE TEMP TABLE strata AS
SELECT stratum, row_number() OVER (ORDER BY stratum) - 1 AS stratum_number
FROM (SELECT DISTINCT stratum FROM cells WHERE problem = 0)
"""
BY_STRATUM = """
SELECT stratum_number, arm_number, sum(shows) AS shows, sum(rewards) AS rewards,
  sum(sums) AS sums, sum(squares) AS squares
FROM cells JOIN numbered USING (arm) JOIN strata ON strata.stratum IS NOT DISTINCT FROM cells.stratum
WHERE problem = 0 GROUP BY stratum_number, arm_number
"""
STRATUM_POOLS = """
SELECT stratum_number, pool_number, sum(shows)::BIGINT AS decisions
FROM cells JOIN used USING (pool) JOIN strata ON strata.stratum IS NOT DISTINCT FROM cells.stratum
WHERE problem = 0 GROUP BY stratum_number, pool_number ORDER BY stratum_number, pool_number
"""
STRATUM_EXPOSURE = """
SELECT stratum_number, arm_number, fsum(chance) AS exposure FROM (
  SELECT {stratum} AS stratum, unnest(candidates) AS arm, unnest(probabilities) AS chance FROM taken
) AS each JOIN numbered USING (arm) JOIN strata ON strata.stratum IS NOT DISTINCT FROM each.stratum
GROUP BY stratum_number, arm_number
"""


class Strata(NamedTuple):
    """Tables by the number of a stratum."""

    arms: Columns
    pools: Columns
    exposure: Columns | None


def stratum(log: Log, by: str | None) -> str:
    """Return the SQL of the stratum of a row."""
    if by is None:
        return ALL
    if by in TIMES:
        if not log.dated:
            raise rules.InvalidValue(
                "by", f"be of dates, but {by!r} is asked of numbers or nothing"
            )
        return TIMES[by]
    if by != log.columns.get("stratum"):
        choices = ", ".join(TIMES)
        remedy = f"map it as columns={{'stratum': {by!r}}}"
        raise rules.InvalidValue(
            "by", f"be {choices} or the column of strata, not {by!r}: {remedy}"
        )
    for name in ("arm", "reward"):
        if by == log.columns.get(name):
            rule = f"be something known before the decision, not {by!r}: that is its {name}"
            raise rules.InvalidValue("by", rule)
    return "stratum"


def stratified(tables: Prepared, sums: LogSums) -> tuple[LogSums, Indices]:
    """Return sums in which each arm is another in each stratum, and the arm that each of them is.

    Its pools are those of a stratum. So fair shares become sum over strata s of
    T_s / T * f(mean of a in s) / sum of f in s, and their box is over all strata at once.
    """
    found, arms = _strata(tables), len(sums.arms)
    pools = _pools(found.pools, sums.pools, arms)
    number = (int(found.pools["stratum_number"].max()) + 1) * arms
    there = np.unique(pools.arm)  # an arm that is not on offer in a stratum is not one there
    place = np.zeros(number, np.int64)
    place[there] = np.arange(there.size)

    def column(table: Columns, name: str) -> np.ndarray:
        values = np.zeros(number)
        at = table["stratum_number"] * arms + table["arm_number"]
        values[at] = np.ma.filled(table[name].astype(np.float64), 0.0)
        return values[there]

    new = sums._replace(
        arms=there.tolist(),
        shows=column(found.arms, "shows"),
        rewards=column(found.arms, "rewards"),
        reward_sums=column(found.arms, "sums"),
        squares=column(found.arms, "squares"),
        exposure=None if found.exposure is None else column(found.exposure, "exposure"),
        pools=pools._replace(arm=place[pools.arm]),
    )
    return new, there % arms


def _strata(tables: Prepared) -> Strata:
    log, vectors = tables.log, "probabilities" in tables.log.columns
    log.connection.execute(STRATA)
    exposure = log.query(STRATUM_EXPOSURE.format(stratum=tables.stratum)) if vectors else None
    return Strata(log.query(BY_STRATUM), log.query(STRATUM_POOLS), exposure)


def _pools(table: Columns, pools: Pools, arms: int) -> Pools:
    """Return the pools of each stratum, with members numbered by stratum and arm."""
    sizes = np.bincount(pools.pool, minlength=pools.decisions.size)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(pools.pool, kind="stable")
    which = table["pool_number"]
    rows = np.repeat(np.arange(which.size), sizes[which])
    first = np.repeat(np.cumsum(sizes[which]) - sizes[which], sizes[which])
    member = pools.arm[order][np.repeat(starts[which], sizes[which]) + np.arange(rows.size) - first]
    arm = table["stratum_number"][rows] * arms + member
    return Pools(rows, arm, table["decisions"].astype(np.float64), pools.floor)
