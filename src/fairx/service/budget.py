"""A budget of time for what clients ask: all questions together take a part of a core."""

from __future__ import annotations

import time
from collections.abc import Callable


class Budget:
    """Seconds that may be used: they come at a steady pace, and some are there in advance.

    Examples
    --------
    >>> now = [0.0]
    >>> budget = Budget(part=0.25, ahead=10.0, clock=lambda: now[0])
    >>> budget.use(11.0)
    >>> budget.wait()
    4.0
    >>> now[0] = 4.0
    >>> budget.wait()
    0.0
    """

    def __init__(
        self, part: float, ahead: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._part, self._ahead, self._clock = part, ahead, clock
        self._left, self._last = ahead, clock()

    def use(self, seconds: float) -> None:
        """Take what something took."""
        self._fill()
        self._left -= seconds

    def wait(self) -> float:
        """Return 0, or after how many seconds there is some left."""
        self._fill()
        return max(0.0, -self._left / self._part)

    def _fill(self) -> None:
        now = self._clock()
        self._left = min(self._ahead, self._left + (now - self._last) * self._part)
        self._last = now
