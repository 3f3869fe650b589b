"""What a log itself says of the conditions of its audit: do means vary, do users return."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.auditing.always_valid import always_valid
from fairx.logs import Log
from fairx.texts import several
from fairx.types import Indices, Vector

from .prepared import Columns
from .strata import TIMES

MOST = 20  # different contexts that are taken for cells
PARTS = """
SELECT arm_number, part, count(reward) AS rewards, sum(reward) AS sums
FROM (SELECT arm, {part} AS part, reward FROM {rows}) JOIN {numbers} USING (arm)
GROUP BY arm_number, part
"""
THIRDS = "least(floor((time - {start!r}) / {each!r}), 2)"
VARY = (
    "The mean rewards of {arms} differ between {parts} beyond their intervals ({name}: "
    "from {low:.3g} to {high:.3g}). {so}."
)
OF_THE_BOX = "The box supposes that they do not: {remedy}"
OF_SHARES = "Verdicts do not mind; fair shares, ratios to them and the fairness regret suppose that they do not"
HOURS = 24
LONG = 5_000_000  # decisions that are not read once more for a note
TWO_DAYS = 172_800.0  # seconds, of which hours can be told from thirds
REACH = 2.5  # about half of an interval, times the root of its values: by it two parts of an arm are chosen
BY_TIME = "judge within days or hours, by --by time:day or --by time:hour"
BY_HOUR = "judge within hours, by --by time:hour"
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
    number: float  # of decisions

    def parts(self, part: str) -> Columns:
        """Return counts and sums of the rewards of each arm in each part."""
        return self.log.query(PARTS.format(part=part, rows=self.rows, numbers=self.numbers))


def asked(of: Asked, alpha: float, ends: tuple[float, float], boxed: bool) -> list[str]:
    """Return a sentence for each way in which means vary, where nothing was stratified.

    `boxed` says that the verdicts need means that do not. Else it is no more than a note, for
    which a very long log is not read once more.
    """
    if not boxed and of.number > LONG:
        return []
    found = [
        _varying(table, of.arms, alpha, ends, parts, OF_THE_BOX.format(remedy=remedy) if boxed else OF_SHARES)
        for table, parts, remedy in _ways(of)
    ]  # fmt: skip
    return [words for words in found if words]


def _ways(of: Asked) -> Iterator[tuple[Columns, str, str]]:
    """Yield the sums of parts of the log, what they are, and the remedy where means differ by them."""
    if of.stop > of.start:
        third = THIRDS.format(start=of.start, each=(of.stop - of.start) / 3)
        days = of.log.dated and of.stop - of.start > TWO_DAYS
        table = of.parts(f"{third} * {HOURS} + {TIMES['time:hour'] if days else 0}")
        yield _merged(table, table["part"] // HOURS), "thirds of the log", BY_TIME
        if days:
            yield _merged(table, table["part"] % HOURS), "hours of the day", BY_HOUR
    if "context" in of.log.columns:
        sql = f"SELECT approx_count_distinct(context) AS n FROM {of.rows}"
        if 1 < of.log.query(sql)["n"][0] <= MOST:
            yield of.parts("hash(context)"), "contexts", BY_CONTEXT


def _merged(table: Columns, part: npt.NDArray[Any]) -> Columns:
    """Return the sums of larger parts."""
    pairs = np.stack([table["arm_number"], part.astype(np.int64)])
    kept, at = np.unique(pairs, axis=1, return_inverse=True)
    sums = (np.ma.filled(table[name].astype(np.float64), 0.0) for name in ("rewards", "sums"))
    rewards, totals = (np.bincount(at.ravel(), one, kept.shape[1]) for one in sums)
    return {"arm_number": kept[0], "part": kept[1], "rewards": rewards, "sums": totals}


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
    table: Columns, names: list[Any], alpha: float, ends: tuple[float, float], parts: str, so: str
) -> str:
    """Say how many arms have means in parts of the log that exclude each other."""
    there = table["rewards"] > 0
    arms, counts = table["arm_number"][there], table["rewards"][there].astype(np.float64)
    totals = np.ma.filled(table["sums"][there].astype(np.float64), 0.0)
    if not arms.size:
        return ""
    means, reach = totals / counts, REACH * (ends[1] - ends[0]) / np.sqrt(counts)
    highest, lowest = _last(arms, means - reach), _last(arms, -means - reach)
    each = alpha / arms.size
    low = always_valid(totals[highest], counts[highest], each, *ends).low
    high = always_valid(totals[lowest], counts[lowest], each, *ends).high
    varying = np.flatnonzero(low > high)
    if not varying.size:
        return ""
    worst = int(varying[np.argmax((low - high)[varying])])
    return VARY.format(
        arms=several(varying.size, "arm", "arms"), parts=parts, so=so,
        name=names[int(arms[highest[worst]])],
        low=means[lowest[worst]], high=means[highest[worst]],
    )  # fmt: skip


def _last(arms: Indices, values: Vector) -> Indices:
    """Return where the largest value of each arm is."""
    order = np.lexsort((values, arms))
    return np.asarray(order[np.flatnonzero(np.diff(arms[order], append=-1))])
