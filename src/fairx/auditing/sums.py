"""What an audit needs of a log: counts and sums by arm, and how often each pool was used."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fairx.logs import problems
from fairx.types import Vector

from .prepared import Columns, Prepared
from .shares import Pools

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


class LogSums(NamedTuple):
    """A log in numbers: vectors are over arms."""

    arms: list[Any]
    shows: Vector
    rewards: Vector  # how many came
    reward_sums: Vector
    squares: Vector
    exposure: Vector | None  # the sum of the probabilities, where those were logged
    inverse: Vector | None  # the sum of 1 / propensity, where that was logged
    spread: Vector  # and its variance
    late: Vector | None
    delays: Vector  # from decision to reward, summed where both times are known
    delayed: Vector  # and how many they are
    least: float  # the lowest and highest reward
    most: float
    start: float  # the first and last time
    stop: float
    pools: Pools
    rows: int
    problems: dict[str, int]


def log_sums(tables: Prepared) -> LogSums:
    """Return the sums of the valid rows, which a log must have."""
    log, names = tables.log, tables.arms
    there, unread = tables.problems(), tables.log.unreadable()
    found = problems.counted(there["problem"], there["rows"]) | unread
    if not names:
        raise ValueError(
            f"the log must have a valid row, but {log.source} has none: {problems.told(found)}"
        )
    table = tables.by_arm()
    vectors = "probabilities" in log.columns
    known = vectors or "propensity" in log.columns
    column = partial(spread_out, arms=len(names))
    return LogSums(
        arms=as_numbers(names) if log.kind in ("csv", "json") else names,
        shows=column(table, "shows"),
        rewards=column(table, "rewards"),
        reward_sums=column(table, "sums"),
        squares=column(table, "squares"),
        exposure=column(tables.exposure(), "exposure") if vectors else None,
        inverse=column(table, "inverse") if known else None,
        spread=column(table, "spread"),
        late=column(table, "late") if "reward_time" in log.columns else None,
        delays=column(table, "delays"),
        delayed=column(table, "delayed"),
        least=min(_known(table, "least"), default=math.inf),
        most=max(_known(table, "most"), default=-math.inf),
        start=min(_known(table, "start"), default=math.inf),
        stop=max(_known(table, "stop"), default=-math.inf),
        pools=tables.pools(),
        rows=int(there["rows"].sum()) + sum(unread.values()),
        problems=found,
    )


def spread_out(table: Columns, name: str, arms: int) -> Vector:
    """Return a column as a vector over all arms, 0 where the table has no row."""
    found = np.zeros(arms)
    found[table["arm_number"]] = np.ma.filled(table[name].astype(np.float64), 0.0)
    return found


def as_numbers(names: list[Any]) -> list[Any]:
    """Return names that were read from text as numbers, where all are whole and lose nothing.

    Examples
    --------
    >>> as_numbers(["7", "12"]), as_numbers(["007", "12"])
    ([7, 12], ['007', '12'])
    """
    return [int(name) for name in names] if all(map(WHOLE.fullmatch, names)) else names


def _known(table: Columns, name: str) -> list[float]:
    found: list[float] = np.ma.compressed(table[name]).astype(np.float64).tolist()
    return found
