"""What a merit function is, and the conditions it must keep (Section 3.1 of the paper)."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from fairx import rules
from fairx.compiled import compilable, kernel
from fairx.numerics.elementary import exp

GRID = 1001


@compilable
class Merit(Protocol):
    """A positive, increasing function f of the mean reward, given by its logarithm."""

    def log(self, mean: float) -> float:
        """Return log f(mean); minus infinity where f is not positive."""
        ...

    def log_slope(self, mean: float) -> float:
        """Return the derivative of log f at `mean`."""
        ...

    def peak(self, low: float, high: float, level: float) -> float:
        """Return the m from `low` to `high` that makes f(m) (m - level) largest."""
        ...

    def is_log_concave(self) -> bool:
        """Tell whether log f is known to be concave, so that `peak` is at an end."""
        ...

    def minimum(self, low: float, high: float) -> float:
        """Return the least merit, the paper's gamma, over means from `low` to `high`."""
        ...

    def lipschitz(self, low: float, high: float) -> float:
        """Return the steepest slope of f, the paper's L, over means from `low` to `high`."""
        ...


def merit_given(name: str, value: Any) -> Any:
    """Return `value` if it is a merit; a refusal says what makes one of it.

    Examples
    --------
    >>> merit_given("judge", 4)
    Traceback (most recent call last):
    InvalidValue: judge must be a merit, not 4: Exponential(4) is exp(4 mean)
    """
    if callable(getattr(value, "log", None)) and not isinstance(value, type):
        return value
    hint = "see fairx.merit"
    if isinstance(value, type):
        hint = f"write {value.__name__}(...), with its settings"
    elif callable(value):
        hint = "Custom(function) makes one of a function"
    elif isinstance(value, (int, float)):
        hint = f"Exponential({value:g}) is exp({value:g} mean)"
    raise rules.InvalidValue(name, f"be a merit, not {value!r}: {hint}")


@kernel
def end_peak(merit: Merit, low: float, high: float, level: float) -> float:
    """Return the better end of the interval: the peak, where log f is concave.

    There (f'/f)(m - level) + 1 changes sign at most once, from - to +, so that f(m)(m - level)
    falls and then rises. Above the level, higher is better in both factors.
    """
    if high >= level or not merit.log(low) > -math.inf:
        return high if high >= level else low
    ratio = exp(merit.log(high) - merit.log(low))
    return high if ratio * (level - high) <= level - low else low


@kernel
def searched_peak(merit: Merit, low: float, high: float, level: float) -> float:
    """Search the interval for the peak of any merit: 64 steps, then golden sections to 1e-9."""
    top = merit.log(high)
    step = (high - low) / 64
    best, found = high, high - level
    for i in range(64):
        mean = low + i * step
        value = exp(merit.log(mean) - top) * (mean - level)
        if value > found:
            best, found = mean, value
    left, right = max(low, best - step), min(high, best + step)
    for _ in range(200):  # at most: where numbers are coarse, 1e-9 is out of reach
        if right - left <= 1e-9:
            break
        a, b = (
            right - 0.6180339887498949 * (right - left),
            left + 0.6180339887498949 * (right - left),
        )
        if exp(merit.log(a) - top) * (a - level) > exp(merit.log(b) - top) * (b - level):
            right = b
        else:
            left = a
    mean = 0.5 * (left + right)
    return mean if exp(merit.log(mean) - top) * (mean - level) > found else best


def check_conditions(merit: Merit, low: float, high: float) -> None:
    """Refuse a merit that is not positive, finite and increasing from `low` to `high`.

    Examples
    --------
    >>> from fairx import Affine
    >>> check_conditions(Affine(slope=1.0, intercept=-0.5), 0.0, 1.0)
    Traceback (most recent call last):
    InvalidValue: merit must be positive and finite, but Affine(slope=1.0, intercept=-0.5) is not at mean 0.0
    """
    before = -math.inf
    for mean in np.linspace(low, high, GRID if high > low else 1).tolist():
        found = merit.log(mean)
        if not math.isfinite(found):
            raise rules.InvalidValue(
                "merit", f"be positive and finite, but {merit} is not at mean {mean}"
            )
        if found < before - 1e-12 * max(1.0, abs(before)):
            raise rules.InvalidValue("merit", f"not decrease, but {merit} does at mean {mean}")
        before = found


def exponential(log_value: float) -> float:
    """Return e**log_value, infinity where that is too large for a number."""
    return math.exp(log_value) if log_value < 709.0 else math.inf
