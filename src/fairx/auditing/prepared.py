"""The tables that an audit makes of a log, and every question that is asked of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.logs import Log
from fairx.types import Vector

from .arrivals import arrivals
from .shares import Pools

Columns = dict[str, npt.NDArray[Any]]
ALL = "0"  # the stratum of each row where there are none
# Of a unit that returns, only the first decision takes part: others may be like it.
FIRSTS = """
CREATE OR REPLACE TEMP TABLE firsts AS
SELECT unit, min(row) AS row, count(*) AS decisions FROM valid
SEMI JOIN (SELECT unit, min(time) AS time FROM valid GROUP BY unit) AS start
  ON start.unit IS NOT DISTINCT FROM valid.unit AND start.time IS NOT DISTINCT FROM valid.time
GROUP BY unit
"""
VIEWS = """
CREATE OR REPLACE TEMP VIEW counted AS SELECT * FROM ({rows}) {first};
CREATE OR REPLACE TEMP VIEW taken AS SELECT * FROM counted WHERE problem = 0
"""
CELLS = """
CREATE OR REPLACE TEMP TABLE cells AS
SELECT arm, pool, problem, {stratum} AS stratum, count(*) AS shows, count(reward) AS rewards, sum(reward) AS sums,
  sum(reward * reward) AS squares, min(reward) AS least, max(reward) AS most,
  sum(1 / propensity) AS inverse, sum((1 - propensity) / propensity / propensity) AS spread,
  min(time) AS start, max(time) AS stop,
  sum(reward_time - time) FILTER (reward IS NOT NULL) AS delays,
  count(reward_time - time) FILTER (reward IS NOT NULL) AS delayed,
  count(*) FILTER (reward_time - time > ?) AS late
FROM counted GROUP BY arm, pool, problem{too}
"""
USED = """
CREATE OR REPLACE TEMP TABLE used AS
SELECT *, row_number() OVER (ORDER BY pool) - 1 AS pool_number FROM (
  SELECT pool, sum(shows)::BIGINT AS decisions FROM cells WHERE problem = 0 GROUP BY pool
)
"""
NUMBERED = """
CREATE OR REPLACE TEMP TABLE numbered AS
SELECT arm, row_number() OVER (ORDER BY arm) - 1 AS arm_number
FROM (SELECT arm FROM cells WHERE problem = 0 UNION {others})
"""
ARRIVED = """
CREATE OR REPLACE TEMP TABLE pools AS
SELECT list_concat(list(arm ORDER BY arm), any_value(never)) AS arms, pool
FROM arrived, (
  SELECT coalesce(list(DISTINCT arm), []) AS never FROM (SELECT unnest(?::{kind}[]) AS arm)
  WHERE arm NOT IN (SELECT arm FROM cells WHERE problem = 0)
) GROUP BY pool
"""
CANDIDATES = "SELECT unnest(arms) AS arm FROM pools SEMI JOIN used USING (pool)"
PROBLEMS = "SELECT problem, sum(shows)::BIGINT AS rows FROM cells GROUP BY problem"
BY_ARM = """
SELECT arm_number, sum(shows) AS shows, sum(rewards) AS rewards, sum(sums) AS sums,
  sum(squares) AS squares, min(least) AS least, max(most) AS most, sum(inverse) AS inverse,
  sum(spread) AS spread, min(start) AS start, max(stop) AS stop, sum(delays) AS delays,
  sum(delayed) AS delayed, sum(late) AS late
FROM cells JOIN numbered USING (arm) WHERE problem = 0 GROUP BY arm_number
"""
EXPOSURE = """
SELECT arm_number, fsum(chance) AS exposure FROM (
  SELECT unnest(candidates) AS arm, unnest(probabilities) AS chance FROM taken
) JOIN numbered USING (arm) GROUP BY arm_number
"""
MEMBERS = """
SELECT pool_number, arm_number
FROM used JOIN (SELECT pool, unnest(arms) AS arm FROM pools) USING (pool)
JOIN numbered USING (arm) ORDER BY pool_number, arm_number
"""
FAIR = """
CREATE OR REPLACE TEMP TABLE fair AS
SELECT pool, arm, share FROM members JOIN numbered USING (arm_number) JOIN used USING (pool_number)
"""
FROM_VECTORS = """
SELECT moment, sum(abs(share - chance)) AS regret, count(*) FILTER (position = 0) AS decisions
FROM (
  SELECT {moment} AS moment, pool, unnest(candidates) AS arm, unnest(probabilities) AS chance,
    unnest(range(len(candidates))) AS position
  FROM {rows}
) JOIN fair USING (arm, pool) GROUP BY moment ORDER BY moment
"""
FROM_PROPENSITIES = """
SELECT {moment} AS moment, sum(2 * greatest(0, 1 - share / propensity)) AS regret,
  count(*) AS decisions
FROM {rows} JOIN fair USING (arm, pool) GROUP BY moment ORDER BY moment
"""


class Prepared(NamedTuple):
    """A log with the tables of this audit beside its rows.

    The view `counted` has the rows that the audit is about, `taken` those without a problem.

    `cells` has counts and sums for each arm, pool and problem: all but vectors is answered from
    it, so that the rows are read once. `used` numbers the pools of valid rows, `numbered` the arms
    of those rows and pools.
    """

    log: Log
    arms: list[Any]  # by their number
    stratum: str = ALL  # SQL of the stratum of a row
    pooled: bool = False  # whether it is known, or was told by arrivals, which arms were on offer
    arrived: int = 0  # arms that came while the log ran

    def problems(self) -> Columns:
        """Return how many rows have each sum of bits of problems."""
        return self.log.query(PROBLEMS)

    def by_arm(self) -> Columns:
        """Return counts and sums of each arm that was shown."""
        return self.log.query(BY_ARM)

    def exposure(self) -> Columns:
        """Return the sum of each arm's logged probabilities: one more pass."""
        return self.log.query(EXPOSURE)

    def pools(self) -> Pools:
        """Return the pools that decisions were made from; all arms where the log does not say."""
        counts = self.log.query("SELECT decisions FROM used ORDER BY pool_number")["decisions"]
        decisions = counts.astype(np.float64)
        if not self.pooled:
            return Pools(np.zeros(len(self.arms), np.int64), np.arange(len(self.arms)), decisions)
        found = self.log.query(MEMBERS)
        return Pools(found["pool_number"], found["arm_number"], decisions)

    def rows(self, problems: Mapping[str, int]) -> str:
        """Return the view of all decisions; it is quicker where none has to be left out."""
        return "taken" if problems else "counted"

    @property
    def decisions(self) -> int:
        """How many decisions there are."""
        return int(self.log.query("SELECT sum(decisions) AS all FROM used")["all"][0])

    def regrets(self, pools: Pools, shares: Vector, moment: str, rows: str) -> Columns:
        """Return the sum of regrets and the decisions of each moment: one more pass.

        `shares` are the fair probabilities of the members of pools; `moment` is SQL that numbers
        the stretch of time of a row, and `rows` the view that is asked.
        """
        members = {"pool_number": pools.pool, "arm_number": pools.arm, "share": shares}
        self.log.connection.register("members", members)
        self.log.connection.execute(FAIR)
        vectors = "probabilities" in self.log.columns
        sql = FROM_VECTORS if vectors else FROM_PROPENSITIES
        return self.log.query(sql.format(moment=moment, rows=rows))


def prepared(log: Log, late: float, stratum: str = ALL, arms: Sequence[Any] = ()) -> Prepared:
    """Make the tables; rewards that take longer than `late` are counted as such.

    `arms` are names of arms that were on offer, shown or not.
    """
    _make_cells(log, "SELECT * FROM checked", stratum, late)
    kind = log.query("SELECT typeof(any_value(arm)) AS kind FROM cells")["kind"][0]
    pooled, arrived = "candidates" in log.columns, 0
    if not pooled and "time" in log.columns:
        rows, pools = arrivals(log)
        if pools:
            pooled, arrived = (
                True,
                len(set(pools["arm"].tolist())) - int((pools["pool"] == 0).sum()),
            )
            log.connection.register("arrived", pools)
            log.connection.execute(ARRIVED.format(kind=kind), [list(arms)])
            _make_cells(log, rows, stratum, late)
    log.connection.execute(USED)
    others = CANDIDATES if pooled else f"SELECT unnest(?::{kind}[]) AS arm"
    log.connection.execute(NUMBERED.format(others=others), [] if pooled else [list(arms)])
    names = log.query("SELECT arm FROM numbered ORDER BY arm_number")["arm"].tolist()
    return Prepared(log, names, stratum, pooled, arrived)


def _make_cells(log: Log, rows: str, stratum: str, late: float) -> None:
    first = ""
    if "unit" in log.columns:
        log.connection.execute(FIRSTS)
        first = "WHERE problem <> 0 OR unit IS NULL OR row IN (SELECT row FROM firsts)"
    log.connection.execute(VIEWS.format(rows=rows, first=first))
    too = "" if stratum == ALL else f", {stratum}"
    log.connection.execute(CELLS.format(stratum=stratum, too=too), [late])
