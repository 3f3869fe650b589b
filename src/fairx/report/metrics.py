"""Numbers that sum up runs, each with the interval that the runs allow."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.simulation.bands import (
    ALPHA,
    Interval,
    around,
    chance,
    error_of,
    one_of_each_run,
    standard_deviation,
)
from fairx.types import Indices, Vector


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
    return around(a.mean() - b.mean(), *_welch(error_of(a), error_of(b)), alpha)


def ratio_interval(first: npt.ArrayLike, second: npt.ArrayLike, alpha: float = ALPHA) -> Interval:
    """Return mean(first) / mean(second), both positive, with the interval of its logarithm.

    The logarithm of a mean has the standard error of the mean over the mean (delta method).

    Examples
    --------
    >>> [round(end, 2) for end in ratio_interval([39.0, 40.0, 41.0], [9.0, 10.0, 11.0])]
    [4.0, 3.1, 5.17]
    """
    a, b = one_of_each_run("first", first), one_of_each_run("second", second)
    top, bottom = (
        rules.positive(name, float(runs.mean()))
        for name, runs in (("the mean of first", a), ("the mean of second", b))
    )
    log = around(math.log(top / bottom), *_welch(error_of(a / top), error_of(b / bottom)), alpha)
    with np.errstate(over="ignore"):
        return Interval(top / bottom, float(np.exp(log.low)), float(np.exp(log.high)))


def resampled_interval(
    statistic: Callable[[Indices], float], runs: int, alpha: float = ALPHA, seed: int = 0
) -> Interval:
    """Return `statistic` of all runs, with the percentile interval of 1,000 bootstrap samples.

    Examples
    --------
    >>> values = np.arange(10.0)
    >>> [round(end, 1) for end in resampled_interval(lambda runs: values[runs].mean(), runs=10)]
    [4.5, 2.7, 6.4]
    """
    everything = np.arange(rules.count("runs", runs))
    if runs == 1:
        return Interval(float(statistic(everything)), -math.inf, math.inf)
    samples = np.random.default_rng(seed).integers(runs, size=(1000, runs))
    low, high = np.quantile(
        [statistic(sample) for sample in samples], [chance(alpha) / 2, 1 - alpha / 2]
    )
    return Interval(float(statistic(everything)), float(low), float(high))


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


def spread(values: npt.ArrayLike) -> float:
    """Return the standard deviation between runs (divided by runs - 1; 0 for a single run)."""
    return float(standard_deviation(one_of_each_run("values", values)))


def _welch(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """Return the standard error of a difference and its degrees of freedom."""
    (a, m), (b, n) = first, second
    if min(m, n) == 0 or a == b == 0:
        return 0.0, min(m, n)
    part = 1 / (1 + (b / a) ** 2) if a else 0.0
    return math.hypot(a, b), 1 / (part**2 / m + (1 - part) ** 2 / n)
