"""Merit functions with a formula: all of them log-concave."""

from __future__ import annotations

import math
from typing import NamedTuple

from fairx import rules
from fairx.compiled import record
from fairx.numerics.elementary import exp, log

from .base import end_peak, exponential

TINY = 1e-300  # the least number that our logarithm takes


@record
class Exponential(NamedTuple):
    """f(mean) = exp(steepness * mean), the merit of the paper's experiments.

    Examples
    --------
    >>> merit = Exponential(steepness=4)
    >>> merit.log(0.5), merit.log_slope(0.5)
    (2.0, 4.0)
    >>> merit.minimum(0, 1), round(merit.lipschitz(0, 1), 1)
    (1.0, 218.4)
    """

    steepness: float

    def checked(self) -> Exponential:
        """Refuse a merit that falls."""
        rules.number("steepness", self.steepness, low=0)
        return self

    def log(self, mean: float) -> float:
        """Return steepness * mean."""
        return self.steepness * mean

    def log_slope(self, mean: float) -> float:
        """Return the steepness, whatever the mean."""
        return self.steepness

    def is_log_concave(self) -> bool:
        """Say yes: the logarithm is a line."""
        return True

    def minimum(self, low: float, high: float) -> float:
        """Return the merit of the lowest mean."""
        return exponential(self.steepness * low)

    def lipschitz(self, low: float, high: float) -> float:
        """Return the slope at the highest mean."""
        return self.steepness * exponential(self.steepness * high)

    def peak(self, low: float, high: float, level: float) -> float:
        """Return the better end."""
        return end_peak(self, low, high, level)


@record
class Affine(NamedTuple):
    """f(mean) = slope * mean + intercept.

    Notes
    -----
    Where that is not positive (a draw far below the true means, say) the arm has no merit and
    gets no exposure that round; true means there are refused.

    Examples
    --------
    >>> Affine(slope=1.0, intercept=0.5).log(0.5)
    0.0
    """

    slope: float
    intercept: float

    def checked(self) -> Affine:
        """Refuse a merit that falls."""
        rules.number("slope", self.slope, low=0)
        rules.number("intercept", self.intercept)
        return self

    def log(self, mean: float) -> float:
        """Return log(slope * mean + intercept)."""
        merit = self.slope * mean + self.intercept
        return log(merit) if merit > TINY else -math.inf

    def log_slope(self, mean: float) -> float:
        """Return slope / f(mean), and 0 where f is not positive."""
        merit = self.slope * mean + self.intercept
        return self.slope / merit if merit > TINY else 0.0

    def is_log_concave(self) -> bool:
        """Say yes: it is concave itself."""
        return True

    def minimum(self, low: float, high: float) -> float:
        """Return the merit of the lowest mean."""
        return self.slope * low + self.intercept

    def lipschitz(self, low: float, high: float) -> float:
        """Return the slope."""
        return self.slope

    def peak(self, low: float, high: float, level: float) -> float:
        """Return the better end."""
        return end_peak(self, low, high, level)


@record
class Power(NamedTuple):
    """f(mean) = (mean + offset)**exponent, and no merit where mean + offset is not positive.

    Examples
    --------
    >>> round(Power(exponent=2, offset=1).log_slope(1.0), 12)
    1.0
    """

    exponent: float
    offset: float

    def checked(self) -> Power:
        """Refuse a merit that falls."""
        rules.number("exponent", self.exponent, low=0)
        rules.number("offset", self.offset)
        return self

    def log(self, mean: float) -> float:
        """Return exponent * log(mean + offset)."""
        base = mean + self.offset
        return self.exponent * log(base) if base > TINY else -math.inf

    def log_slope(self, mean: float) -> float:
        """Return exponent / (mean + offset), and 0 where f is not positive."""
        base = mean + self.offset
        return self.exponent / base if base > TINY else 0.0

    def is_log_concave(self) -> bool:
        """Say yes: the logarithm of a line is concave."""
        return True

    def minimum(self, low: float, high: float) -> float:
        """Return the merit of the lowest mean."""
        return exponential(self.log(low))

    def lipschitz(self, low: float, high: float) -> float:
        """Return the slope at the high end for exponents above 1, at the low end below."""
        end = high if self.exponent >= 1 else low
        if 0 < self.exponent < 1 and low + self.offset <= TINY:
            return math.inf
        return self.log_slope(end) * exponential(self.log(end))

    def peak(self, low: float, high: float, level: float) -> float:
        """Return the better end."""
        return end_peak(self, low, high, level)


@record
class Logistic(NamedTuple):
    """f(mean) = 1 / (1 + exp(-steepness * (mean - midpoint))): merit that saturates.

    Examples
    --------
    >>> round(Logistic(steepness=10, midpoint=0.5).minimum(0.5, 1), 6)
    0.5
    """

    steepness: float
    midpoint: float

    def checked(self) -> Logistic:
        """Refuse a merit that falls."""
        rules.number("steepness", self.steepness, low=0)
        rules.number("midpoint", self.midpoint)
        return self

    def log(self, mean: float) -> float:
        """Return -log(1 + exp(-z)), without overflow on either side."""
        z = self.steepness * (mean - self.midpoint)
        return min(z, 0.0) - log(1.0 + exp(-abs(z)))

    def log_slope(self, mean: float) -> float:
        """Return steepness * (1 - f(mean))."""
        z = self.steepness * (mean - self.midpoint)
        tail = exp(-abs(z))
        return self.steepness * (tail if z > 0 else 1.0) / (1.0 + tail)

    def is_log_concave(self) -> bool:
        """Say yes: the slope of the logarithm falls."""
        return True

    def minimum(self, low: float, high: float) -> float:
        """Return the merit of the lowest mean."""
        return exponential(self.log(low))

    def lipschitz(self, low: float, high: float) -> float:
        """Return the slope at the midpoint, or at the end nearest to it."""
        nearest = min(max(self.midpoint, low), high)
        return self.log_slope(nearest) * exponential(self.log(nearest))

    def peak(self, low: float, high: float, level: float) -> float:
        """Return the better end."""
        return end_peak(self, low, high, level)
