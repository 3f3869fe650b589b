"""A merit drawn by hand: straight lines between knots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fairx import rules
from fairx.compiled import changed, kernel, record
from fairx.numerics.elementary import log


@record
class PiecewiseLinear(NamedTuple):
    """Merit by straight lines between (knot, value) points, constant outside them.

    Notes
    -----
    Between two knots f(m) (m - level) is convex, so the optimistic step is exact here too: the
    best mean is an end of the interval or a knot. The merit of the Lipschitz lower bound is
    `PiecewiseLinear((0, 1), (1, 1 + L))`.

    Examples
    --------
    >>> merit = PiecewiseLinear(knots=(0, 0.5, 1), values=(1, 1, 3))
    >>> round(merit.log(0.75), 6), merit.is_log_concave(), merit.lipschitz(0, 0.4)
    (0.693147, False, 0.0)
    """

    knots: Sequence[float]
    values: Sequence[float]

    def checked(self) -> PiecewiseLinear:
        """Refuse knots out of order and values that fall or are not positive."""
        knots = tuple(float(knot) for knot in self.knots)
        values = tuple(float(value) for value in self.values)
        if not 2 <= len(knots) == len(values):
            rule = f"be of one length, at least 2, not {len(knots)} and {len(values)}"
            raise rules.InvalidValue("knots and values", rule)
        for i, (knot, value) in enumerate(zip(knots, values, strict=True)):
            rules.number(f"knots[{i}]", knot)
            if not (rules.number(f"values[{i}]", value) > 1e-300):
                raise rules.InvalidValue("merit", f"be positive, but is {value} at mean {knot}")
            if i and knot <= knots[i - 1]:
                raise rules.InvalidValue("knots", f"increase, but {knot} follows {knots[i - 1]}")
            if i and value < values[i - 1]:
                raise rules.InvalidValue("merit", f"not decrease, but does at mean {knot}")
        return changed(self, knots=knots, values=values)

    def log(self, mean: float) -> float:
        """Return log f(mean)."""
        return log(interpolated(self.knots, self.values, mean))

    def log_slope(self, mean: float) -> float:
        """Return the slope of the piece right of `mean`, over f(mean)."""
        slope = 0.0
        for i in range(1, len(self.knots)):
            if self.knots[i - 1] <= mean < self.knots[i]:
                rise = self.values[i] - self.values[i - 1]
                slope = rise / (self.knots[i] - self.knots[i - 1])
        return slope / interpolated(self.knots, self.values, mean)

    def is_log_concave(self) -> bool:
        """Tell whether the slopes fall from piece to piece, from flat on the left."""
        return self.values[0] == self.values[len(self.values) - 1]

    def peak(self, low: float, high: float, level: float) -> float:
        """Return the best of the two ends and the knots between them."""
        best, found = high, interpolated(self.knots, self.values, high) * (high - level)
        if interpolated(self.knots, self.values, low) * (low - level) > found:
            best, found = low, interpolated(self.knots, self.values, low) * (low - level)
        for i in range(len(self.knots)):
            knot = self.knots[i]
            if low < knot < high and self.values[i] * (knot - level) > found:
                best, found = knot, self.values[i] * (knot - level)
        return best

    def minimum(self, low: float, high: float) -> float:
        """Return the merit of the lowest mean."""
        return interpolated(self.knots, self.values, low)

    def lipschitz(self, low: float, high: float) -> float:
        """Return the steepest slope of the pieces that the interval touches."""
        steepest = 0.0
        for i in range(1, len(self.knots)):
            if low < self.knots[i] and high > self.knots[i - 1]:
                rise = self.values[i] - self.values[i - 1]
                steepest = max(steepest, rise / (self.knots[i] - self.knots[i - 1]))
        return steepest


@kernel
def interpolated(knots: Sequence[float], values: Sequence[float], mean: float) -> float:
    """Return the height at `mean` of the lines through the points, level outside them."""
    found = values[0]
    for i in range(1, len(knots)):
        if mean > knots[i - 1]:
            part = min((mean - knots[i - 1]) / (knots[i] - knots[i - 1]), 1.0)
            found = values[i - 1] + part * (values[i] - values[i - 1])
    return found
