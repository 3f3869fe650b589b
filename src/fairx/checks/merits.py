"""Properties of a merit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fairx.merit import check_conditions

POINTS = 201


def check_merit(merit: Any, low: float = 0.0, high: float = 1.0) -> None:
    """Raise an error that names the first property that `merit` lacks from `low` to `high`."""
    for check in MERIT_CHECKS:
        check(merit, low, high)


def it_is_positive_finite_and_increasing(merit: Any, low: float, high: float) -> None:
    """The paper's conditions, and no exposure for being worse."""
    check_conditions(merit, low, high)


def its_slope_is_that_of_its_logarithm(merit: Any, low: float, high: float) -> None:
    """`log_slope` agrees with differences of `log`, up to a few kinks."""
    step = 1e-6 * (high - low)
    wrong = 0
    for mean in np.linspace(low + 2 * step, high - 2 * step, POINTS).tolist():
        found = (merit.log(mean + step) - merit.log(mean - step)) / (2 * step)
        wrong += not math.isclose(found, merit.log_slope(mean), rel_tol=1e-3, abs_tol=1e-3)
    assert wrong <= POINTS // 20, f"{merit}: log_slope is wrong at {wrong} of {POINTS} means"


def its_logarithm_is_concave_where_it_says_so(merit: Any, low: float, high: float) -> None:
    """The exact solver relies on it."""
    if not merit.is_log_concave():
        return
    logs = np.array([merit.log(mean) for mean in np.linspace(low, high, POINTS).tolist()])
    bend = np.diff(logs, 2).max()
    assert bend <= 1e-9 * max(1.0, np.abs(logs).max()), f"{merit}: log bends upwards by {bend}"


def its_peak_is_the_highest_point(merit: Any, low: float, high: float) -> None:
    """`peak` beats every point of a grid."""
    for level in np.linspace(low - 0.5, high + 0.5, 11).tolist():
        found = merit.peak(low, high, level)
        assert low <= found <= high, f"{merit}: the peak {found} is outside {low} to {high}"
        top = merit.log(high)
        best = math.exp(merit.log(found) - top) * (found - level)
        for mean in np.linspace(low, high, POINTS).tolist():
            value = math.exp(merit.log(mean) - top) * (mean - level)
            assert value <= best + 1e-9, f"{merit}: peak at {found} for {level}, {mean} is higher"


def its_minimum_and_slope_hold_on_a_grid(merit: Any, low: float, high: float) -> None:
    """Gamma is the least merit and L bounds all slopes; both are reached (to 1 %)."""
    means = np.linspace(low, high, 2001)
    logs = np.array([merit.log(mean) for mean in means.tolist()])
    if logs.max() > 600:
        return  # too steep for numbers: the logarithms are all there is
    values = np.exp(logs)
    least, steepest = merit.minimum(low, high), merit.lipschitz(low, high)
    assert math.isclose(least, values.min(), rel_tol=1e-6), (
        f"{merit}: minimum {least}, not {values.min()}"
    )
    slope = np.abs(np.diff(values)).max() / (means[1] - means[0])
    assert slope <= steepest * (1 + 1e-6) + 1e-12, f"{merit}: L {steepest}, but a slope of {slope}"
    assert slope >= steepest * 0.9 - 1e-9, f"{merit}: L {steepest}, but no slope above {slope}"


MERIT_CHECKS: list[Callable[[Any, float, float], None]] = [
    it_is_positive_finite_and_increasing,
    its_slope_is_that_of_its_logarithm,
    its_logarithm_is_concave_where_it_says_so,
    its_peak_is_the_highest_point,
    its_minimum_and_slope_hold_on_a_grid,
]
