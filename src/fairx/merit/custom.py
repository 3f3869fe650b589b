"""Merit by any function of the user's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairx.compiled import record
from fairx.numerics.elementary import log
from fairx.texts import short

from .base import GRID, searched_peak
from .closed_form import TINY

NUDGE = 1e-6


@record
class Custom(NamedTuple):
    """f(mean) = function(mean), any Python function of one number.

    Numba compiles it into the loops where it can; where it cannot, the loops run interpreted
    and a warning says so.

    Parameters
    ----------
    function
        Of the mean reward; positive, and not decreasing.
    name
        What figures and tables call it; by default, the name of the function.

    Notes
    -----
    The slope is a central difference, gamma and L are read off a grid, and the optimistic step
    searches each arm's interval to 1e-9: a function that wiggles on a scale below 1/64 of the
    interval may hide its peak from it.

    Examples
    --------
    >>> merit = Custom(lambda mean: 1.0 + mean * mean)
    >>> round(merit.log(1.0), 6), round(merit.log_slope(1.0), 6)
    (0.693147, 1.0)
    >>> Custom(lambda mean: 1.0 + mean * mean, name="bowl")
    Custom(function=bowl)
    """

    function: Callable[[float], float]
    name: str = ""

    def checked(self) -> Custom:
        """Refuse what cannot be called."""
        if not callable(self.function):
            raise TypeError(f"function must be callable, not {self.function!r}")
        return self

    def log(self, mean: float) -> float:
        """Return log function(mean)."""
        merit = self.function(mean)
        return log(merit) if merit > TINY else -math.inf

    def log_slope(self, mean: float) -> float:
        """Return the slope between two points close by."""
        low, high = self.function(mean - NUDGE), self.function(mean + NUDGE)
        if not min(low, high) > TINY:
            return 0.0
        return (log(high) - log(low)) / (2.0 * NUDGE)

    def is_log_concave(self) -> bool:
        """Say no: it is not known."""
        return False

    def minimum(self, low: float, high: float) -> float:
        """Return the least of 1001 values."""
        return min(float(self.function(m)) for m in np.linspace(low, high, GRID).tolist())

    def lipschitz(self, low: float, high: float) -> float:
        """Return the steepest of the slopes at 1001 means."""
        means = np.linspace(low + NUDGE, high - NUDGE, GRID).tolist()
        rises = (self.function(m + NUDGE) - self.function(m - NUDGE) for m in means)
        return max(abs(float(rise)) for rise in rises) / (2.0 * NUDGE)

    def peak(self, low: float, high: float, level: float) -> float:
        """Search the interval."""
        return searched_peak(self, low, high, level)


@short.register(Custom)
def _(value: Custom) -> str:
    return f"Custom(function={value.name or short(value.function)})"
