"""Stretches of time of a log, and the fairness regret in each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .result import Moment

MOMENTS = 40


class Stretches(NamedTuple):
    """The time of a log, in so many stretches of one length."""

    start: float
    stop: float

    @property
    def each(self) -> float:
        """How long one is; 0 where times are all the same, or not known."""
        return (self.stop - self.start) / MOMENTS if self.stop > self.start else 0.0

    @property
    def number(self) -> str:
        """SQL that numbers the stretch of a row by its `time`.

        Examples
        --------
        >>> Stretches(0.0, 80.0).number, Stretches(5.0, 5.0).number
        ('least(floor((time - 0.0) / 2.0), 39)', '0')
        """
        if not self.each:
            return "0"
        return f"least(floor((time - {self.start!r}) / {self.each!r}), {MOMENTS - 1})"

    def moments(self, found: Mapping[str, Any]) -> tuple[Moment, ...]:
        """Return the stretches that have decisions, from sums by `moment`; none where all is one."""
        if not self.each:
            return ()
        columns = (found[name].tolist() for name in ("moment", "decisions", "regret"))
        return tuple(
            Moment(self.start + i * self.each, self.start + (i + 1) * self.each, int(n), total / n)
            for i, n, total in zip(*columns, strict=True)
        )
