"""What the writer's thread found out, handed to those who wait for it in the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

from fairx.store.errors import Unavailable

PATIENCE = 10.0  # seconds


def settle(outcomes: list[tuple[asyncio.Future[Any], Any]]) -> None:
    """Give each future its outcome: an answer, or an exception to raise."""
    for future, outcome in outcomes:
        if future.done():  # the client went away
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


class Pending:
    """Futures that must have an outcome in time: later, whoever waits is told that there is none."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._waiting: deque[tuple[float, asyncio.Future[Any]]] = deque()

    def add(self, future: asyncio.Future[Any]) -> None:
        """Give a future its deadline."""
        self._waiting.append((future.get_loop().time() + self._patience, future))

    def look(self, now: float) -> None:
        """Let go of what is done; give up what is overdue."""
        while self._waiting and (self._waiting[0][1].done() or self._waiting[0][0] <= now):
            future = self._waiting.popleft()[1]
            if not future.done():
                future.set_exception(Unavailable(f"no answer in {self._patience:g} s"))
