"""What a log itself says of the conditions of its audit: do means vary, do users return."""

from __future__ import annotations

import numpy as np

from fairx.auditing.always_valid import always_valid

from .prepared import Columns, Prepared
from .sums import LogSums

MOST = 20  # different contexts that are taken for cells
PARTS = """
SELECT arm_number, part, count(reward) AS rewards, sum(reward) AS sums
FROM (SELECT arm, {part} AS part, reward FROM {rows}) JOIN numbered USING (arm)
GROUP BY arm_number, part
"""
THIRDS = "least(floor((time - {start!r}) / {each!r}), 2)"
VARY = (
    "The mean rewards of {number:,} arms differ between {parts} beyond their intervals ({name}: "
    "from {low:.3g} to {high:.3g}). The box supposes that they do not: {remedy}."
)
BY_TIME = "judge within days or hours, by --by time:day or --by time:hour"
BY_CONTEXT = "judge within each kind of context, by --by COLUMN"
WHO = {"user", "userid", "visitor", "visitorid", "session", "sessionid", "customer", "customerid"}
WHOSE = (
    "The column {name} may say whose decisions these are. Where somebody returns whose rewards are "
    "alike, fair systems are accused too often: give --unit {name}."
)
RETURNING = (
    "{units:,} units have {decisions:,} decisions. Only the first of each takes part, since those "
    "of one unit may be alike."
)


def asked(tables: Prepared, sums: LogSums, alpha: float, ends: tuple[float, float]) -> list[str]:
    """Return a sentence for each way in which means vary, where nothing was stratified."""
    rows, found = tables.rows(sums.problems), []
    if sums.stop > sums.start:
        part = THIRDS.format(start=sums.start, each=(sums.stop - sums.start) / 3)
        table = tables.log.query(PARTS.format(part=part, rows=rows))
        found.append(_varying(table, sums, alpha, ends, "thirds of the log", BY_TIME))
    if "context" in tables.log.columns:
        number = tables.log.query(f"SELECT approx_count_distinct(context) AS n FROM {rows}")["n"][0]
        if 1 < number <= MOST:
            table = tables.log.query(PARTS.format(part="hash(context)", rows=rows))
            found.append(_varying(table, sums, alpha, ends, "contexts", BY_CONTEXT))
    return [words for words in found if words]


def returning(tables: Prepared) -> list[str]:
    """Say whether units return, or which column may say whose decisions these are."""
    if "unit" in tables.log.columns:
        units, decisions = tables.returning()
        return [RETURNING.format(units=units, decisions=decisions)] if decisions > units else []
    known = [name for name in tables.log.others if name.lower().replace("_", "") in WHO]
    return [WHOSE.format(name=known[0])] if known else []


def _varying(
    table: Columns, sums: LogSums, alpha: float, ends: tuple[float, float], parts: str, remedy: str
) -> str:
    """Say how many arms have means in parts of the log that exclude each other."""
    there = table["rewards"] > 0
    arms, counts = table["arm_number"][there], table["rewards"][there].astype(np.float64)
    totals = np.ma.filled(table["sums"][there].astype(np.float64), 0.0)
    if not arms.size:
        return ""
    box = always_valid(totals, counts, alpha / arms.size, *ends)
    low, high = np.full(len(sums.arms), -np.inf), np.full(len(sums.arms), np.inf)
    np.maximum.at(low, arms, box.low)
    np.minimum.at(high, arms, box.high)
    varying = np.flatnonzero(low > high)
    if not varying.size:
        return ""
    worst = int(varying[np.argmax((low - high)[varying])])
    means = (totals / counts)[arms == worst]
    return VARY.format(
        number=varying.size, parts=parts, name=sums.arms[worst], remedy=remedy,
        low=means.min(), high=means.max(),
    )  # fmt: skip
