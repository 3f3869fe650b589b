"""Numbers that sum up runs, each with the interval that the runs allow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.simulation.bands import (
    ALPHA,
    Interval,
    around,
    chance,
    error_of,
    mean_interval,
    one_of_each_run,
    plain,
)
from fairx.types import Matrix, Vector

__all__ = [
    "Interval",
    "difference_interval",
    "distance",
    "distance_differences",
    "growth_exponents",
    "jackknifed",
    "mean_interval",  # found here in version 0.1
    "share_interval",
]


def difference_interval(
    first: npt.ArrayLike, second: npt.ArrayLike, alpha: float = ALPHA
) -> Interval:
    """Return mean(first) - mean(second) with its interval by Welch, for independent runs.

    Examples
    --------
    >>> [round(end, 3) for end in difference_interval([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])]
    [3.0, 0.733, 5.267]
    """
    a, b = one_of_each_run("first", first), one_of_each_run("second", second)
    value = a.mean(axis=-1) - b.mean(axis=-1)
    return around(value, *_welch(error_of(a), error_of(b)), alpha)


def share_interval(hits: Any, runs: int, alpha: float = ALPHA) -> Interval:
    """Return hits / runs with the exact interval of Clopper and Pearson.

    Examples
    --------
    >>> [round(end, 3) for end in share_interval(9, runs=10)]
    [0.9, 0.555, 0.997]
    """
    from scipy.special import betaincinv

    some, none = np.asarray(hits), runs - np.asarray(hits)
    tail = chance(alpha) / 2
    low = np.where(some > 0, betaincinv(np.maximum(some, 1), none + 1, tail), 0.0)
    high = np.where(none > 0, betaincinv(some + 1, np.maximum(none, 1), 1 - tail), 1.0)
    return Interval(plain(some / runs), plain(low), plain(high))


def distance_differences(first: Any, second: Any) -> Matrix:
    """Return ln |x - x'| of the first less that of the second for each pair of runs, 0 for one run.

    Examples
    --------
    >>> distance_differences([0.0, 2.0], [0.0, 1.0]).round(3)
    array([[0.   , 0.693],
           [0.693, 0.   ]])
    """
    logs = []
    for values in (np.asarray(first), np.asarray(second)):
        apart = np.abs(values[..., :, None] - values[..., None, :]) + np.eye(values.shape[-1])
        logs.append(np.log(np.maximum(apart, np.finfo(float).tiny)))  # equal runs: very near
    found: Matrix = logs[0] - logs[1]
    return found


def jackknifed(pairs: Any) -> Matrix:
    """Return one value for each run, whose mean is that over all pairs, for an interval of Student's t.

    Examples
    --------
    >>> pairs = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    >>> jackknifed(pairs)  # 3 * 2 less twice the mean of the pairs without this run
    array([0., 2., 4.])
    """
    found, n = np.asarray(pairs), np.shape(pairs)[-1]
    each = found.sum(axis=-1)
    total = each.sum(axis=-1, keepdims=True) / 2
    without = (total - each) / ((n - 1) * (n - 2) / 2)
    values: Matrix = n * total / (n * (n - 1) / 2) - (n - 1) * without
    return values


def growth_exponents(rounds: npt.ArrayLike, regret: npt.ArrayLike, decades: float = 1.0) -> Vector:
    """Fit regret = a * rounds**exponent to each run over the last `decades` powers of ten.

    0.5 is the square root of the paper's bounds, 1 is a regret that never stops growing.
    Least squares of logarithms, each mark weighing as much as the stretch that it stands for.

    Examples
    --------
    >>> rounds = np.array([100, 200, 400, 800])
    >>> growth_exponents(rounds, [3 * np.sqrt(rounds), 2.0 * rounds]).round(6)
    array([0.5, 1. ])
    """
    marks = rules.array("rounds", rounds, (None,))
    curves = rules.array("regret", regret, (None, marks.size), "one row per run")
    late = marks >= marks[-1] / 10 ** rules.positive("decades", decades)
    if late.sum() < 2:
        raise ValueError(f"rounds must have two marks or more to fit, not {marks[late]}")
    if (curves[:, late] <= 0).any():
        raise ValueError(f"regret must be positive to fit, not {curves[:, late].min()}")
    x = np.log(marks[late])
    slopes: Vector = np.polyfit(x, np.log(curves[:, late]).T, 1, w=np.sqrt(np.gradient(x)))[0]
    return slopes


def distance(exposure: npt.ArrayLike, fair: npt.ArrayLike) -> Vector:
    """Return how far the exposure of each run is from the fair one: L1, from 0 to 2.

    Examples
    --------
    >>> distance([[1.0, 0.0], [0.5, 0.5]], [0.5, 0.5])
    array([1., 0.])
    """
    shares = rules.array("fair", fair, (None,))
    shown = rules.array("exposure", exposure, (None, shares.size), "one row per run")
    apart: Vector = np.abs(shown - shares).sum(axis=1)
    return apart


def _welch(first: tuple[Any, int], second: tuple[Any, int]) -> tuple[Any, Any]:
    """Return the standard error of a difference and its degrees of freedom."""
    (a, m), (b, n) = first, second
    error = np.hypot(a, b)
    if min(m, n) == 0:
        return error, 0
    part = np.divide(a**2, error**2, out=np.ones_like(error), where=error > 0)
    return error, 1 / (part**2 / m + (1 - part) ** 2 / n)
