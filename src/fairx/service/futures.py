"""What the writer's thread found out, handed to those who wait for it in the event loop."""

from __future__ import annotations

import itertools
from typing import Any, Protocol

from fairx.store.errors import Unavailable

PATIENCE = 10.0  # seconds


class Awaited(Protocol):
    """An outcome that somebody waits for: a future, or what needs no more of one than this."""

    def done(self) -> bool:
        """Tell whether nobody waits any more."""

    def set_result(self, result: Any, /) -> None:
        """Take an answer."""

    def set_exception(self, error: Any, /) -> None:
        """Take what went wrong."""


class Pending:
    """Futures that must have an outcome in time: later, whoever waits is told that there is none.

    One that is settled is let go of at once: thousands that stay for a while grow old, and have the
    garbage collector look through the whole process.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._waiting: dict[Awaited, float] = {}  # until when, the oldest first

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, future: Awaited, now: float) -> None:
        """Give a future its deadline."""
        self._waiting[future] = now + self._patience

    def settle(self, outcomes: list[tuple[Awaited, Any]]) -> None:
        """Give each future its outcome: an answer, or an exception to raise."""
        for future, outcome in outcomes:
            self._waiting.pop(future, None)
            if future.done():  # the client went away
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

    def look(self, now: float) -> None:
        """Give up what is overdue."""
        overdue = itertools.takewhile(lambda each: each[1] <= now, self._waiting.items())
        for future, _ in list(overdue):
            del self._waiting[future]
            if not future.done():
                future.set_exception(Unavailable(f"no answer in {self._patience:g} s"))
