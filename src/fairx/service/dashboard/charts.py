"""Where things are in the charts: percentages, so that text keeps its size at any width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fairx.auditing.result import Line, Moment


class Scale(NamedTuple):
    """An axis from `low` to `high`.

    Examples
    --------
    >>> scale = Scale(0.0, 0.5)
    >>> scale.at(0.25), scale.at(9.0), scale.span(0.1, 0.2), scale.ticks()
    ('50%', '100%', '20%', [0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
    """

    low: float
    high: float

    def part(self, value: float) -> float:
        """Return how far along a value is, from 0 to 1; beyond the ends, the end."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def at(self, value: float) -> str:
        """Return where a value is."""
        return f"{100 * self.part(value):.5g}%"

    def up(self, value: float) -> str:
        """Return where a value is on an axis that goes up."""
        return f"{100 - 100 * self.part(value):.5g}%"

    def span(self, start: float, stop: float) -> str:
        """Return the length from one value to another."""
        return f"{100 * (self.part(stop) - self.part(start)):.5g}%"

    def ticks(self, most: int = 6) -> list[float]:
        """Return round values, the ends among them where those are round."""
        step = _round_up((self.high - self.low) / (most - 1))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(i * step, 12) for i in range(first, last + 1)]


def from_zero(values: Iterable[float]) -> Scale:
    """Return a scale from 0 to a round value that is not below any of these.

    Examples
    --------
    >>> from_zero([0.1, 0.37]), from_zero([])
    (Scale(low=0.0, high=0.4), Scale(low=0.0, high=1.0))
    """
    top = max(values, default=0.0)
    if not top > 0:
        return Scale(0.0, 1.0)
    step = _round_up(top / 5)
    return Scale(0.0, round(math.ceil(top / step - 1e-9) * step, 12))


def share_scale(lines: Sequence[Line]) -> Scale:
    """Return a scale on which shares can be told apart; wide boxes go on beyond its end."""
    seen = max((max(line.exposure, line.fair_share) for line in lines), default=0.0)
    widest = max((line.fair_high for line in lines), default=0.0)
    return from_zero([min(1.0, max(seen, min(widest, 2.5 * seen)))])


def time_scale(moments: Sequence[Moment]) -> Scale:
    """Return the scale of stretches of time."""
    return Scale(moments[0].start, moments[-1].stop)


def stairs(moments: Sequence[Moment], across: Scale, up: Scale) -> str:
    """Return the path of the regret over time in a square of 100 x 100; gaps stay gaps.

    Examples
    --------
    >>> moments = [Moment(0, 1, 9, 0.5), Moment(1, 2, 9, 1.0), Moment(3, 4, 9, 0.0)]
    >>> stairs(moments, Scale(0, 4), Scale(0, 1))
    'M0 50H25V0H50M75 100H100'
    """
    parts, last = [], -math.inf
    for moment in moments:
        start, stop = (100 * across.part(end) for end in (moment.start, moment.stop))
        height = 100 - 100 * up.part(moment.fairness_regret_per_decision)
        joined = moment.start - last < 1e-6 * (across.high - across.low)
        parts.append(f"V{height:.5g}" if joined else f"M{start:.5g} {height:.5g}")
        parts.append(f"H{stop:.5g}")
        last = moment.stop
    return "".join(parts)


def _round_up(value: float) -> float:
    """Return the next of ..., 0.1, 0.2, 0.5, 1, 2, 5, ..."""
    unit = 10.0 ** math.floor(math.log10(value))
    return next(unit * part for part in (1, 2, 5, 10) if unit * part >= value * (1 - 1e-9))
