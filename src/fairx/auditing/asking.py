"""What a log itself says of the conditions of its audit: do means vary, do users return."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx.auditing.always_valid import always_valid
from fairx.logs import Log
from fairx.texts import several

from .prepared import Columns

MOST = 20  # different contexts that are taken for cells
PARTS = """
SELECT arm_number, part, count(reward) AS rewards, sum(reward) AS sums
FROM (SELECT arm, {part} AS part, reward FROM {rows}) JOIN {numbers} USING (arm)
GROUP BY arm_number, part
"""
THIRDS = "least(floor((time - {start!r}) / {each!r}), 2)"
VARY = (
    "The mean rewards of {arms} differ between {parts} beyond their intervals ({name}: "
    "from {low:.3g} to {high:.3g}). The box supposes that they do not: {remedy}."
)
BY_TIME = "judge within days or hours, by --by time:day or --by time:hour"
BY_CONTEXT = "judge within each kind of context, by --by COLUMN"
UNITS = """
SELECT count(DISTINCT unit) AS units, count({each}) AS decisions FROM valid WHERE unit IS NOT NULL
"""
WHO = {"user", "userid", "visitor", "visitorid", "session", "sessionid", "customer", "customerid"}
WHOSE = (
    "The column {name} may say whose decisions these are. Where somebody returns whose rewards are "
    "alike, fair systems are accused too often: give --unit {name}."
)
RETURNING = (
    "{units} {decisions:,} decisions. Only the first of each takes part, since those "
    "of one unit may be alike."
)


class Asked(NamedTuple):
    """Where a log is asked: a view of rows, the table that numbers arms, and the times there are."""

    log: Log
    rows: str
    numbers: str
    arms: list[Any]
    start: float
    stop: float

    def parts(self, part: str) -> Columns:
        """Return counts and sums of the rewards of each arm in each part."""
        return self.log.query(PARTS.format(part=part, rows=self.rows, numbers=self.numbers))


def asked(of: Asked, alpha: float, ends: tuple[float, float]) -> list[str]:
    """Return a sentence for each way in which means vary, where nothing was stratified."""
    found = []
    if of.stop > of.start:
        table = of.parts(THIRDS.format(start=of.start, each=(of.stop - of.start) / 3))
        found.append(_varying(table, of.arms, alpha, ends, "thirds of the log", BY_TIME))
    if "context" in of.log.columns:
        sql = f"SELECT approx_count_distinct(context) AS n FROM {of.rows}"
        if 1 < of.log.query(sql)["n"][0] <= MOST:
            table = of.parts("hash(context)")
            found.append(_varying(table, of.arms, alpha, ends, "contexts", BY_CONTEXT))
    return [words for words in found if words]


def returning_of(log: Log, each: str = "*") -> list[str]:
    """Say whether units return, or which column may say whose decisions these are.

    `each` is what is counted: rows, or the decisions that rows of slates share.
    """
    if "unit" in log.columns:
        found = log.query(UNITS.format(each="*" if each == "*" else f"DISTINCT {each}"))
        units, decisions = int(found["units"][0]), int(found["decisions"][0])
        return (
            [RETURNING.format(units=several(units, "unit has", "units have"), decisions=decisions)]
            if decisions > units
            else []
        )
    known = [name for name in log.others if name.lower().replace("_", "") in WHO]
    return [WHOSE.format(name=known[0])] if known else []


def _varying(
    table: Columns,
    names: list[Any],
    alpha: float,
    ends: tuple[float, float],
    parts: str,
    remedy: str,
) -> str:
    """Say how many arms have means in parts of the log that exclude each other."""
    there = table["rewards"] > 0
    arms, counts = table["arm_number"][there], table["rewards"][there].astype(np.float64)
    totals = np.ma.filled(table["sums"][there].astype(np.float64), 0.0)
    if not arms.size:
        return ""
    box = always_valid(totals, counts, alpha / arms.size, *ends)
    low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    np.maximum.at(low, arms, box.low)
    np.minimum.at(high, arms, box.high)
    varying = np.flatnonzero(low > high)
    if not varying.size:
        return ""
    worst = int(varying[np.argmax((low - high)[varying])])
    means = (totals / counts)[arms == worst]
    return VARY.format(
        arms=several(varying.size, "arm", "arms"), parts=parts, name=names[worst], remedy=remedy,
        low=means.min(), high=means.max(),
    )  # fmt: skip
