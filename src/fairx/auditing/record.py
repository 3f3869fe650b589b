"""Parts of the record of an audit that are told alike of decisions and of slates."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from fairx.logs import Log
from fairx.merit import Merit
from fairx.types import Vector

from .noise import Noise
from .regret import Regret
from .result import Line, Moment
from .shares import gini


class Given(TypedDict):
    """What was asked, and of which log."""

    source: str
    merit: str
    floor: float
    alpha: float
    tolerance: float
    lowest_reward: float
    highest_reward: float
    dated: bool
    columns: dict[str, str]
    start: float | None
    stop: float | None


class Apart(TypedDict):
    """How far from fair the whole log is."""

    fairness_regret_per_decision: float
    regret_from: str
    regret_low: float
    regret_high: float
    regret_floor: float
    over_time: tuple[Moment, ...]
    distance: float
    gini_exposure: float
    gini_fair_share: float


def given(
    log: Log, merit: Merit, floor: float, alpha: float, tolerance: float,
    reward_range: tuple[float, float], times: tuple[float, float],
) -> Given:  # fmt: skip
    """Return what was asked, and of which log."""
    timed = "time" in log.columns
    return {
        "source": log.source,
        "merit": repr(merit),
        "floor": floor,
        "alpha": alpha,
        "tolerance": tolerance,
        "lowest_reward": reward_range[0],
        "highest_reward": reward_range[1],
        "dated": log.dated,
        "columns": dict(log.columns),
        "start": times[0] if timed else None,
        "stop": times[1] if timed else None,
    }


def apart(lines: tuple[Line, ...], regret: Regret, unsure: Noise) -> Apart:
    """Return how far from fair the whole log is."""
    return {
        "fairness_regret_per_decision": regret.value,
        "regret_from": regret.method,
        "regret_low": max(0.0, regret.value - unsure.reach),
        "regret_high": min(2.0, regret.value + unsure.reach),
        "regret_floor": unsure.floor,
        "over_time": regret.over_time,
        "distance": distance(lines),
        "gini_exposure": gini(column(lines, "exposure")),
        "gini_fair_share": gini(column(lines, "fair_share")),
    }


def distance(lines: tuple[Line, ...]) -> float:
    """Return the sum over arms of how far exposure is from the fair share."""
    return float(np.abs(column(lines, "exposure") - column(lines, "fair_share")).sum())


def column(lines: tuple[Line, ...], name: str) -> Vector:
    """Return one number of all lines."""
    values: list[Any] = [getattr(line, name) for line in lines]
    return np.array(values)
