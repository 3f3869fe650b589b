"""The mean reward of each arm, with intervals that hold for all of them at every look."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.types import Indices, Vector

from .gathering import Rows
from .logged import PIECE
from .sequences import boundary, scaled_rewards

Ends = tuple[float, float]


class Means(NamedTuple):
    """What a log says of each arm's mean reward; the ends hold for all arms, at every look."""

    shows: Indices  # of each unit, where there are units, one
    means: Vector  # of an arm never shown, that of all decisions
    lows: Vector
    highs: Vector
    errors: Vector  # standard errors


def arm_means(rows: Rows, arms: int, alpha: float, ends: Ends) -> Means:
    """Return the mean reward of each arm, with intervals that hold for all of them at every look.

    Each is an empirical-Bernstein confidence sequence (`confidence_sequence`) of the arm's rewards
    in their order, about the mean of those before; they share alpha. Of each unit an arm's first reward counts,
    as others may be alike.

    Examples
    --------
    >>> rows = Rows(np.array([0, 0, 1, 0]), np.array([1.0, 0.0, 1.0, 1.0]), np.ones(4))
    >>> arm_means(rows, 2, 0.05, (0.0, 1.0)).means.round(3)
    array([0.667, 1.   ])
    """
    scaled = scaled_rewards(rows.rewards, ends, (None,))
    if rows.units is not None:
        first = np.sort(np.unique(rows.units * arms + rows.arms, return_index=True)[1])
        rows, scaled = rows._replace(arms=rows.arms[first]), scaled[first]
    shows, sums, squares, spread = np.zeros((4, arms))
    for start in range(0, len(scaled), PIECE):
        _add(rows.arms[start : start + PIECE], scaled[start : start + PIECE], shows, sums, spread)
        squares += np.bincount(
            rows.arms[start : start + PIECE], scaled[start : start + PIECE] ** 2, arms
        )
    known = np.maximum(shows, 1.0)
    means = np.where(shows > 0, sums / known, scaled.mean())
    reach = np.where(shows > 0, boundary(spread, alpha / 2 / arms) / known, 1.0)
    variances = (np.maximum(squares - known * means**2, 0.0) + 0.25) / (known + 1.0)
    low, span = ends[0], ends[1] - ends[0]
    middle, lows, highs = (
        low + span * np.clip(means + side, 0.0, 1.0) for side in (0.0, -reach, reach)
    )
    return Means(shows.astype(np.int64), middle, lows, highs, span * np.sqrt(variances / known))


def _add(arms: Indices, rewards: Vector, shows: Vector, sums: Vector, spread: Vector) -> None:
    """Add up rewards and their squared distances from the mean of the arm's earlier ones."""
    order = np.argsort(arms, kind="stable")
    arm, reward = arms[order], rewards[order]
    first = np.flatnonzero(np.diff(arm, prepend=-1))
    starts = np.repeat(first, np.diff(first, append=arm.size))
    before = np.cumsum(reward) - reward
    earlier = before - before[starts] + sums[arm]
    number = np.arange(arm.size) - starts + shows[arm]
    guess = np.clip((0.5 + earlier) / (1.0 + number), 0.0, 1.0)
    spread += np.bincount(arm, np.square(reward - guess), spread.size)
    sums += np.bincount(arm, reward, sums.size)
    shows += np.bincount(arm, minlength=shows.size)
