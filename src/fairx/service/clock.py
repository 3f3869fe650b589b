"""A clock that nobody can set while the service runs: a window is as long as it was said to be."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable

RATE = 0.001  # seconds that it may gain or lose in a second, to follow the machine's clock
APART = 1.0  # seconds: more is a step, not drift
LOGGER = logging.getLogger("fairx")


# Seconds since some moment, which nobody sets; where the system can, of sleep too.
steady: Callable[[], float] = (
    functools.partial(time.clock_gettime, time.CLOCK_BOOTTIME)
    if hasattr(time, "CLOCK_BOOTTIME")
    else time.monotonic
)


class SteadyClock:
    """Seconds since 1970: as the machine's clock was at the start, and then at an even pace.

    It follows the machine's clock by a thousandth of the time that goes by, as much as clocks
    drift. A step, by hand or by NTP, matures nothing early and keeps nothing waiting; it is
    logged, and is `apart` until the next start.

    Examples
    --------
    >>> wall, beat = [1000.0], [0.0]
    >>> clock = SteadyClock(lambda: wall[0], lambda: beat[0])
    >>> wall[0], beat[0] = 8201.0, 1.0  # a second later the clock was set, two hours ahead
    >>> round(clock(), 3), round(clock.apart)
    (1001.001, 7200)
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, beat: Callable[[], float] = steady
    ) -> None:
        self._wall, self._beat = wall, beat
        self._last = wall(), beat()
        self.apart = 0.0  # how far the machine's clock is ahead

    def __call__(self) -> float:
        """Return the time."""
        beat, (last, since) = self._beat(), self._last
        now = last + (beat - since)
        apart, most = self._wall() - now, RATE * (beat - since)
        now += min(max(apart, -most), most)
        self._last = now, beat  # one assignment: threads may race, and nothing is torn
        if abs(apart - self.apart) > APART:
            LOGGER.warning(
                "the machine's clock was set: windows go on at an even pace until the next start",
                extra={"seconds_ahead": round(apart, 3)},
            )
        self.apart = apart
        return now
