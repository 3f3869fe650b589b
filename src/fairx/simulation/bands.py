"""The band about a mean over runs: how much it says of the runs, or of their mean."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.types import Vector

ALPHA = 0.05
BANDS = {  # in words: the mean plus or minus ...
    "std": "one standard deviation",
    "se": "one standard error",
    "interval": "half a 95 % interval (Student's t)",
}


class Band(NamedTuple):
    """The mean over the runs and the ends of its band."""

    mean: Vector
    low: Vector
    high: Vector


def band(values: npt.ArrayLike, kind: str = "std") -> Band:
    """Return the mean of runs, one in each row, with the band of a kind about it.

    - `"std"`: one standard deviation, which says how far a run is from the others;
    - `"se"`: one standard error, the standard deviation over the root of the number of runs;
    - `"interval"`: Student's t interval, which covers the mean of all possible runs with a chance
      of 95 %, at one checkpoint, where runs are about normal. It needs SciPy.

    One run has no band: both ends are its value.

    Examples
    --------
    >>> [end.round(2).tolist() for end in band([[1.0, 5.0], [3.0, 5.0]], "std")]
    [[2.0, 5.0], [0.59, 5.0], [3.41, 5.0]]
    >>> [end.round(2).tolist() for end in band([[1.0, 5.0], [3.0, 5.0]], "interval")]
    [[2.0, 5.0], [-10.71, 5.0], [14.71, 5.0]]
    """
    found = np.asarray(values, dtype=np.float64)
    mean, half = found.mean(axis=0), factor(kind, len(found)) * standard_deviation(found)
    return Band(mean, mean - half, mean + half)


def factor(kind: str, runs: int) -> float:
    """Return how many standard deviations of the runs half a band is wide; 0 for a single run.

    Examples
    --------
    >>> [round(factor(kind, runs=10), 3) for kind in BANDS]
    [1.0, 0.316, 0.715]
    """
    check(kind)
    if runs < 2:
        return 0.0
    if kind == "std":
        return 1.0
    return (t_quantile(ALPHA, runs - 1) if kind == "interval" else 1.0) / math.sqrt(runs)


def standard_deviation(values: Vector) -> Vector:
    """Return the deviation between runs, divided by runs - 1; 0 for a single run."""
    if len(values) > 1:
        return np.asarray(values.std(axis=0, ddof=1))
    return np.zeros(values.shape[1:])


def t_quantile(alpha: float, freedom: Any) -> Any:
    """Return the t that Student's variable exceeds, on either side, with chance `alpha`.

    `freedom` is a number, or an array of them.

    Examples
    --------
    >>> round(t_quantile(0.05, freedom=9), 3)
    2.262
    """
    try:
        from scipy.special import stdtrit
    except ImportError as error:
        raise ImportError("t intervals need SciPy: pip install 'fairx[experiments]'") from error
    rules.positive("freedom", float(np.min(freedom)))
    return plain(stdtrit(freedom, 1 - chance(alpha) / 2))


def chance(alpha: float) -> float:
    """Return a chance of error: one above a half is a level, which some mistake for it."""
    return rules.number("alpha", rules.positive("alpha", alpha), low=0, high=0.5)


def check(kind: str) -> str:
    """Return the kind of a band, if there is such a one."""
    if kind not in BANDS:
        rule = f"be one of {', '.join(BANDS)}, not {kind!r}"
        raise rules.InvalidValue("band", rule + rules.nearest(str(kind), BANDS))
    return kind


class Interval(NamedTuple):
    """An estimate and the ends of its confidence interval, infinite for a single run."""

    value: Any  # numbers, or arrays of many estimates
    low: Any
    high: Any


def mean_interval(values: npt.ArrayLike, alpha: float = ALPHA) -> Interval:
    """Return the mean over runs, the last axis, with its Student t interval.

    Examples
    --------
    >>> [round(end, 3) for end in mean_interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    found = one_of_each_run("values", values)
    return around(found.mean(axis=-1), *error_of(found), alpha)


def around(value: Any, error: Any, freedom: Any, alpha: float) -> Interval:
    """Return the interval of a value with this standard error."""
    if not np.all(freedom):  # one run: nothing is known of the others
        return Interval(plain(value), -math.inf, math.inf)
    # Welch's degrees of freedom are cut to a whole number, which only widens the interval.
    half = t_quantile(alpha, np.floor(np.add(freedom, 1e-9))) * error
    return Interval(plain(value), plain(value - half), plain(value + half))


def error_of(values: Vector) -> tuple[Any, int]:
    """Return the standard error of the mean over runs, the last axis, and its degrees of freedom."""
    runs = values.shape[-1]
    return standard_deviation(np.moveaxis(values, -1, 0)) / math.sqrt(runs), runs - 1


def one_of_each_run(name: str, values: npt.ArrayLike) -> Vector:
    """Return finite numbers, one for each run along the last axis, of which there is at least one."""
    shape = (None,) * max(1, np.ndim(values))
    found = rules.array(name, values, shape, "one value per run")
    rules.count(f"the number of {name}", found.shape[-1])
    return found


def plain(value: Any) -> Any:
    """Return a number as Python's own, and an array as it is."""
    return np.asarray(value).item() if np.ndim(value) == 0 else value
