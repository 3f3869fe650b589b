"""How much is being answered, and when that is enough: a queue with a limit and a deadline."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

FEW = 64  # requests that are answered at once, however long it takes
LONG = 0.4  # seconds: with more than a few, no new ones come in while one has waited for this


class Load:
    """The requests that are being answered, and how many were refused for that.

    Parameters
    ----------
    limit
        How many requests may be answered at once.
    clock
        Seconds since some moment; tests have their own.

    Examples
    --------
    >>> now = [0.0]
    >>> load = Load(1000, clock=lambda: now[0])
    >>> load.at_work = FEW
    >>> load.begin(0)
    >>> now[0] = 2 * LONG
    >>> load.is_full
    True
    >>> load.end(0)
    >>> load.is_full
    False
    """

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self.at_work = self.shed = self.connections = 0
        self._begun: dict[int, float] = {}  # those that should be quick, the oldest first
        self._let_in = 0  # in this round of the event loop; they begin in the next
        self._in_round = False

    @property
    def at_once(self) -> int:
        """How many are being answered, or are about to be."""
        return self.at_work + self._let_in

    @property
    def is_full(self) -> bool:
        """Tell whether a new request is refused."""
        if self.at_once < FEW:
            return self.at_once >= self._limit
        oldest = next(iter(self._begun.values()), math.inf)
        return self.at_once >= self._limit or self._clock() - oldest > LONG

    def begin(self, request: int) -> None:
        """Note that a request is there whole, and being answered, which should be quick."""
        self._begun[request] = self._clock()

    def end(self, request: int) -> None:
        """Note that it was, or was refused before it was there."""
        self._begun.pop(request, None)

    def let_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Count a request that will begin: of those that come together, only so many may."""
        self._let_in += 1
        if not self._in_round:
            self._in_round = True
            loop.call_soon(self._end_round)

    def _end_round(self) -> None:
        self._let_in, self._in_round = 0, False
