"""What an audit needs of a log of slates: sums by arm, and how often each kind of page was shown."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx.auditing.moments import Stretches
from fairx.auditing.regret import Regret
from fairx.logs import Log, problems
from fairx.types import Indices, Vector

from .shares import PageKind, exposures_of

# Of a unit that returns, only the first page takes part: others may be like it.
TAKEN = "CREATE OR REPLACE TEMP VIEW taken_pages AS SELECT * FROM valid {first}"
FIRSTS = """
WHERE unit IS NULL OR decision IN (
  SELECT first(decision ORDER BY time, row) FROM valid WHERE unit IS NOT NULL GROUP BY unit
)
"""
PAGES = """
CREATE OR REPLACE TEMP TABLE shown_pages AS
SELECT decision, any_value(pool) AS pool, list(weight ORDER BY place) AS weights,
  sum(weight) AS total, coalesce(min(time), 0) AS time
FROM taken_pages GROUP BY decision;
CREATE OR REPLACE TEMP TABLE page_kinds AS
SELECT pool, weights, count(*) AS decisions, row_number() OVER (ORDER BY pool, weights) - 1 AS kind
FROM shown_pages GROUP BY pool, weights
"""
NUMBERED = """
CREATE OR REPLACE TEMP TABLE page_arms AS
SELECT arm, row_number() OVER (ORDER BY arm) - 1 AS arm_number FROM ({arms})
"""
BY_ARM = """
SELECT arm_number, count(*) AS shows, count(reward) AS rewards, coalesce(sum(reward), 0) AS sums,
  coalesce(sum(reward * reward), 0) AS squares, sum(weight) AS weights,
  coalesce(sum(weight) FILTER (reward IS NOT NULL), 0) AS looked
FROM taken_pages JOIN page_arms USING (arm) GROUP BY arm_number
"""
EACH = """
SELECT decision, unnest(candidates) AS arm, unnest(exposures) AS had,
  unnest(range(len(candidates))) AS position
FROM taken_pages WHERE place = 1
"""
EXPOSURES = f"""
SELECT arm_number, fsum(had) AS had FROM ({EACH}) JOIN page_arms USING (arm) GROUP BY arm_number
"""
SCALE = 2.0**80
# Threads add in any order: sums of whole numbers do not show it. Terms are at most 2, and not a number
# on a page without weight, which has no regret.
REGRET = f"""
SELECT {{moment}} AS moment,
  coalesce(sum(try_cast(abs(had - fair) / total * {SCALE} AS HUGEINT)), 0)::DOUBLE / {SCALE} AS regret,
  count(*) FILTER (position = 0) AS decisions
FROM ({EACH}) JOIN shown_pages USING (decision)
JOIN page_kinds USING (pool, weights) JOIN page_arms USING (arm) JOIN fair_pages USING (kind, arm_number)
GROUP BY moment ORDER BY moment
"""
ENDS = """
SELECT min(reward) AS least, max(reward) AS most, coalesce(min(time), 0) AS start,
  coalesce(max(time), 0) AS stop
FROM taken_pages
"""
MEMBERS = """
SELECT pool, arm_number FROM (SELECT pool, unnest(arms) AS arm FROM pools) JOIN page_arms USING (arm)
ORDER BY pool, arm_number
"""


class SlateSums(NamedTuple):
    """A log of slates in numbers: vectors are over arms."""

    arms: list[Any]
    shows: Vector
    rewards: Vector  # how many came
    reward_sums: Vector
    squares: Vector
    weights: Vector  # of the places that each had
    looked: Vector  # of those whose reward came
    exposures: Vector | None  # their sums, where they were logged
    kinds: list[PageKind]
    decisions: int
    weight: float  # of all places of all decisions
    most_weight: float  # of one place
    most_total: float  # of the places of one decision
    least: float  # the lowest and highest reward
    most: float
    start: float  # the first and last time
    stop: float

    def regret(self, log: Log, logs: Vector) -> Regret:
        """Return the mean of the distance between the exposures of a decision and the fair ones."""
        fair = [exposures_of(kind, logs) for kind in self.kinds]
        sizes = [kind.arms.size for kind in self.kinds]
        table = {
            "kind": np.repeat(np.arange(len(sizes)), sizes),
            "arm_number": np.concatenate([kind.arms for kind in self.kinds]),
            "fair": np.concatenate(fair),
        }
        log.connection.register("fair_pages", table)
        time = Stretches(self.start, self.stop)
        found = log.query(REGRET.format(moment=time.number))
        value = float(found["regret"].sum()) / self.decisions
        return Regret(value, "exposures", time.moments(found))


def slate_sums(log: Log) -> SlateSums:
    """Return the sums of the slates of a log that have no problem."""
    for name in ("decision", "place", "weight", "reward"):
        if name not in log.columns:
            raise ValueError(f"{name} must be a column of the log: an audit of slates needs it")
    log.connection.execute(TAKEN.format(first=FIRSTS if "unit" in log.columns else ""))
    log.connection.execute(PAGES)
    listed = "candidates" in log.columns
    arms = "SELECT DISTINCT unnest(arms) AS arm FROM pools SEMI JOIN page_kinds USING (pool)"
    log.connection.execute(
        NUMBERED.format(arms=arms if listed else "SELECT DISTINCT arm FROM taken_pages")
    )
    names = log.query("SELECT arm FROM page_arms ORDER BY arm_number")["arm"].tolist()
    if not names:
        raise ValueError(
            f"the log must have a valid slate, but {log.source} has none: {problems.told(log.problems())}"
        )
    kinds, by_arm = _kinds(log, listed, len(names)), log.query(BY_ARM)
    ends = log.query(ENDS)
    if np.ma.getmaskarray(ends["least"])[0]:
        raise ValueError("the log must have a reward, but all are missing")
    totals = [float(kind.weights.sum()) for kind in kinds]
    had = _spread(log.query(EXPOSURES), "had", len(names)) if "exposures" in log.columns else None
    return SlateSums(
        arms=names,
        shows=_spread(by_arm, "shows", len(names)),
        rewards=_spread(by_arm, "rewards", len(names)),
        reward_sums=_spread(by_arm, "sums", len(names)),
        squares=_spread(by_arm, "squares", len(names)),
        weights=_spread(by_arm, "weights", len(names)),
        looked=_spread(by_arm, "looked", len(names)),
        exposures=had,
        kinds=kinds,
        decisions=int(sum(kind.decisions for kind in kinds)),
        weight=float(
            sum(kind.decisions * total for kind, total in zip(kinds, totals, strict=True))
        ),
        most_weight=max(float(kind.weights[0]) for kind in kinds),
        most_total=max(totals),
        **{name: float(column[0]) for name, column in ends.items()},
    )


def _spread(table: dict[str, Any], name: str, arms: int) -> Vector:
    found = np.zeros(arms)
    found[table["arm_number"]] = table[name].astype(np.float64)
    return found


def _kinds(log: Log, listed: bool, arms: int) -> list[PageKind]:
    """Return the kinds of pages; all arms are on offer where the log does not say."""
    found = log.query("SELECT pool, weights, decisions FROM page_kinds ORDER BY kind")
    members = _members(log) if listed else {}
    kinds = []
    for pool, weights, decisions in zip(*found.values(), strict=True):
        numbers = members[pool] if listed else np.arange(arms)
        kinds.append(PageKind(numbers, np.asarray(weights, np.float64), float(decisions)))
    return kinds


def _members(log: Log) -> dict[int, Indices]:
    """Return the numbers of the arms of each pool."""
    found = log.query(MEMBERS)
    pools, starts = np.unique(found["pool"], return_index=True)
    parts = np.split(found["arm_number"].astype(np.int64), starts[1:])
    return dict(zip(pools.tolist(), parts, strict=True))
