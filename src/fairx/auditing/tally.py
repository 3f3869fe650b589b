"""What an audit needs of a log: counts and sums by arm, and how often each set was on offer."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.logs import Log, problems
from fairx.types import Vector

from .shares import Pools

CELLS = """
CREATE OR REPLACE TEMP TABLE cells AS
SELECT arm, pool, problem, count(*) AS shows, count(reward) AS rewards, sum(reward) AS sums,
  sum(reward * reward) AS squares, min(reward) AS least, max(reward) AS most,
  sum(1 / propensity) AS inverse, sum((1 - propensity) / propensity / propensity) AS spread,
  min(time) AS start, max(time) AS stop,
  sum(reward_time - time) AS delays, count(*) FILTER (reward_time - time > ?) AS late
FROM checked GROUP BY arm, pool, problem;
CREATE OR REPLACE TEMP TABLE offers AS
SELECT pool, sum(shows)::BIGINT AS decisions FROM cells WHERE problem = 0 GROUP BY pool
"""
NAMES = """
CREATE OR REPLACE TEMP TABLE arms AS SELECT arm, row_number() OVER (ORDER BY arm) - 1 AS id
FROM (SELECT arm FROM cells WHERE problem = 0 UNION {members})
"""
MEMBERS = "SELECT unnest(arms) AS arm FROM sets SEMI JOIN offers USING (pool)"
SUMS = """
SELECT id, sum(shows) AS shows, sum(rewards) AS rewards, sum(sums) AS sums,
  sum(squares) AS squares, min(least) AS least, max(most) AS most, sum(inverse) AS inverse,
  sum(spread) AS spread, min(start) AS start, max(stop) AS stop, sum(delays) AS delays,
  sum(late) AS late
FROM cells JOIN arms USING (arm) WHERE problem = 0 GROUP BY id
"""
EXPOSURE = """
SELECT id, fsum(chance) AS exposure FROM (
  SELECT unnest(candidates) AS arm, unnest(probabilities) AS chance FROM valid
) JOIN arms USING (arm) GROUP BY id
"""
WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


class Tally(NamedTuple):
    """A log in numbers: vectors are over arms."""

    arms: list[Any]
    shows: Vector
    rewards: Vector  # how many came
    sums: Vector
    squares: Vector
    exposure: Vector | None  # the sum of the probabilities, where those were logged
    inverse: Vector | None  # the sum of 1 / propensity, where that was logged
    spread: Vector  # and its variance
    late: Vector | None
    delays: Vector
    least: float  # the lowest and highest reward
    most: float
    start: float  # the first and last time
    stop: float
    pools: Pools
    rows: int
    problems: dict[str, int]


def tallied(log: Log, late: float) -> Tally:
    """Return the tally of the valid rows, by one pass, and one more where vectors were logged."""
    for statement in CELLS.split(";"):
        log.connection.execute(statement, [late] if "?" in statement else [])
    there = log.query("SELECT problem, sum(shows)::BIGINT AS rows FROM cells GROUP BY problem")
    unread = log.unreadable()
    found = problems.counted(there["problem"], there["rows"]) | unread
    members = MEMBERS if "candidates" in log.columns else "SELECT arm FROM cells WHERE false"
    log.connection.execute(NAMES.format(members=members))
    names = log.query("SELECT arm FROM arms ORDER BY id")["arm"].tolist()
    if not names:
        raise ValueError(f"the log must have a valid row, but {log.source} has none: {found}")
    table = log.query(SUMS)
    vectors = "probabilities" in log.columns
    known = vectors or "propensity" in log.columns
    column = partial(spread_out, arms=len(names))
    return Tally(
        arms=plain(names) if log.kind in ("csv", "json") else names,
        shows=column(table, "shows"),
        rewards=column(table, "rewards"),
        sums=column(table, "sums"),
        squares=column(table, "squares"),
        exposure=column(log.query(EXPOSURE), "exposure") if vectors else None,
        inverse=column(table, "inverse") if known else None,
        spread=column(table, "spread"),
        late=column(table, "late") if "reward_time" in log.columns else None,
        delays=column(table, "delays"),
        least=min(_known(table, "least"), default=math.inf),
        most=max(_known(table, "most"), default=-math.inf),
        start=min(_known(table, "start"), default=math.inf),
        stop=max(_known(table, "stop"), default=-math.inf),
        pools=_pools(log, len(names)),
        rows=int(there["rows"].sum()) + sum(unread.values()),
        problems=found,
    )


def spread_out(table: dict[str, npt.NDArray[Any]], name: str, arms: int) -> Vector:
    """Return a column as a vector over all arms, 0 where the table has no row."""
    found = np.zeros(arms)
    found[table["id"]] = np.ma.filled(table[name].astype(np.float64), 0.0)
    return found


def plain(names: list[Any]) -> list[Any]:
    """Return names that were read from text as numbers, where all are whole and lose nothing.

    Examples
    --------
    >>> plain(["7", "12"]), plain(["007", "12"])
    ([7, 12], ['007', '12'])
    """
    return [int(name) for name in names] if all(map(WHOLE.fullmatch, names)) else names


def _known(table: dict[str, npt.NDArray[Any]], name: str) -> list[float]:
    found: list[float] = np.ma.compressed(table[name]).astype(np.float64).tolist()
    return found


def _pools(log: Log, arms: int) -> Pools:
    """Return the sets that were on offer; all arms always where the log does not say."""
    offers = log.query("SELECT decisions FROM offers ORDER BY pool")["decisions"]
    if "candidates" not in log.columns:
        return Pools(np.zeros(arms, np.int64), np.arange(arms), offers.astype(np.float64))
    found = log.query(
        "SELECT place, id FROM (SELECT pool, row_number() OVER (ORDER BY pool) - 1 AS place "
        "FROM offers) JOIN (SELECT pool, unnest(arms) AS arm FROM sets) USING (pool) "
        "JOIN arms USING (arm) ORDER BY place, id"
    )
    return Pools(found["place"], found["id"], offers.astype(np.float64))
