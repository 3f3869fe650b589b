"""The tables that an audit makes of a log, and every question that is asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.logs import Log
from fairx.types import Indices, Vector

from .shares import Pools

Columns = dict[str, npt.NDArray[Any]]
ALL = "0"  # the stratum of each row where there are none
CELLS = """
CREATE OR REPLACE TEMP TABLE cells AS
SELECT arm, pool, problem, {stratum} AS stratum, count(*) AS shows, count(reward) AS rewards, sum(reward) AS sums,
  sum(reward * reward) AS squares, min(reward) AS least, max(reward) AS most,
  sum(1 / propensity) AS inverse, sum((1 - propensity) / propensity / propensity) AS spread,
  min(time) AS start, max(time) AS stop,
  sum(reward_time - time) FILTER (reward IS NOT NULL) AS delays,
  count(reward_time - time) FILTER (reward IS NOT NULL) AS delayed,
  count(*) FILTER (reward_time - time > ?) AS late
FROM checked GROUP BY arm, pool, problem{too}
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
CANDIDATES = "SELECT unnest(arms) AS arm FROM pools SEMI JOIN used USING (pool)"
PROBLEMS = "SELECT problem, sum(shows)::BIGINT AS rows FROM cells GROUP BY problem"
BY_ARM = """
SELECT arm_number, sum(shows) AS shows, sum(rewards) AS rewards, sum(sums) AS sums,
  sum(squares) AS squares, min(least) AS least, max(most) AS most, sum(inverse) AS inverse,
  sum(spread) AS spread, min(start) AS start, max(stop) AS stop, sum(delays) AS delays,
  sum(delayed) AS delayed, sum(late) AS late
FROM cells JOIN numbered USING (arm) WHERE problem = 0 GROUP BY arm_number
"""
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
  SELECT {stratum} AS stratum, unnest(candidates) AS arm, unnest(probabilities) AS chance FROM valid
) AS each JOIN numbered USING (arm) JOIN strata ON strata.stratum IS NOT DISTINCT FROM each.stratum
GROUP BY stratum_number, arm_number
"""
EXPOSURE = """
SELECT arm_number, fsum(chance) AS exposure FROM (
  SELECT unnest(candidates) AS arm, unnest(probabilities) AS chance FROM valid
) JOIN numbered USING (arm) GROUP BY arm_number
"""
MEMBERS = """
SELECT pool_number, arm_number
FROM used JOIN (SELECT pool, unnest(arms) AS arm FROM pools) USING (pool)
JOIN numbered USING (arm) ORDER BY pool_number, arm_number
"""
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
SELECT coalesce({time}, 0) AS time, arm, pool, propensity, reward FROM {rows}
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


class Strata(NamedTuple):
    """Tables by the number of a stratum."""

    arms: Columns
    pools: Columns
    exposure: Columns | None


class Prepared(NamedTuple):
    """A log with three tables of this audit beside its rows.

    `cells` has counts and sums for each arm, pool and problem: all but vectors is answered from
    it, so that the rows are read once. `used` numbers the pools of valid rows, `numbered` the arms
    of those rows and pools.
    """

    log: Log
    arms: list[Any]  # by their number
    stratum: str = ALL  # SQL of the stratum of a row

    def problems(self) -> Columns:
        """Return how many rows have each sum of bits of problems."""
        return self.log.query(PROBLEMS)

    def by_arm(self) -> Columns:
        """Return counts and sums of each arm that was shown."""
        return self.log.query(BY_ARM)

    def exposure(self) -> Columns:
        """Return the sum of each arm's logged probabilities: one more pass."""
        return self.log.query(EXPOSURE)

    def strata(self) -> Strata:
        """Return counts, sums and exposure of each arm in each stratum, and the strata's pools."""
        self.log.connection.execute(STRATA)
        vectors = "probabilities" in self.log.columns
        exposure = (
            self.log.query(STRATUM_EXPOSURE.format(stratum=self.stratum)) if vectors else None
        )
        return Strata(self.log.query(BY_STRATUM), self.log.query(STRATUM_POOLS), exposure)

    def pools(self) -> Pools:
        """Return the pools that decisions were made from; all arms where the log does not say."""
        counts = self.log.query("SELECT decisions FROM used ORDER BY pool_number")["decisions"]
        decisions = counts.astype(np.float64)
        if "candidates" not in self.log.columns:
            return Pools(np.zeros(len(self.arms), np.int64), np.arange(len(self.arms)), decisions)
        found = self.log.query(MEMBERS)
        return Pools(found["pool_number"], found["arm_number"], decisions)

    @property
    def decisions(self) -> int:
        """How many decisions there are."""
        return int(self.log.query("SELECT sum(decisions) AS all FROM used")["all"][0])

    def listings(self) -> tuple[Indices, Indices]:
        """Return where the arms of each list of candidates begin, by its number, and all of them."""
        found = self.log.query(LISTINGS)
        numbers = np.arange(int(found["listing"].max()) + 2)
        return np.searchsorted(found["listing"], numbers), found["arm_number"]

    def in_order(self, rows: str, size: int) -> Iterator[Any]:
        """Return batches of the decisions with their lists of probabilities: one more pass."""
        time = "time" if "time" in self.log.columns else "0"
        return self.log.batches(IN_ORDER.format(time=time, rows=rows), size)

    def pool_numbers(self) -> Indices:
        """Return the number of each pool of the log among those of valid rows."""
        found = self.log.query("SELECT pool, pool_number FROM used")
        numbers = np.zeros(int(found["pool"].max()) + 1, np.int64)
        numbers[found["pool"]] = found["pool_number"]
        return numbers

    def arms_in_order(self, rows: str, size: int) -> Iterator[Any]:
        """Return batches of the decisions with the arm that was shown: one more pass."""
        time = "time" if "time" in self.log.columns else "0"
        return self.log.batches(ARMS_IN_ORDER.format(time=time, rows=rows), size)

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


def prepared(log: Log, late: float, stratum: str = ALL) -> Prepared:
    """Make the tables; rewards that take longer than `late` are counted as such."""
    too = "" if stratum == ALL else f", {stratum}"
    log.connection.execute(CELLS.format(stratum=stratum, too=too), [late])
    log.connection.execute(USED)
    others = CANDIDATES if "candidates" in log.columns else "SELECT arm FROM cells WHERE false"
    log.connection.execute(NUMBERED.format(others=others))
    arms = log.query("SELECT arm FROM numbered ORDER BY arm_number")["arm"].tolist()
    return Prepared(log, arms, stratum)
