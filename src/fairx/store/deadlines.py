"""A connection that answers nothing is given up: statements have a deadline on this side too.

The server's timeouts do not help where the network swallows what is sent, and those of TCP not
where something in between keeps the connection alive.
"""

from __future__ import annotations

import math
import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LOOK_EVERY = 0.25  # seconds
_watched: weakref.WeakSet[Deadline] = weakref.WeakSet()
_begun = threading.Lock()


class Deadline:
    """The deadline of what one connection is asked, one thing at a time."""

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection, self._seconds = connection, seconds
        self._until = math.inf
        _watched.add(self)
        if _begun.acquire(blocking=False):  # the first of all: never released
            threading.Thread(target=_watch, name="fairx deadlines", daemon=True).start()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Cut the connection should what is done inside take too long."""
        self._until = time.monotonic() + self._seconds
        try:
            yield
        finally:
            self._until = math.inf

    def look(self) -> None:
        """Cut the connection if it is overdue: who waits for it gets an error then."""
        if time.monotonic() < self._until:
            return
        try:
            with socket.socket(fileno=os.dup(self._connection.fileno())) as cut:
                cut.shutdown(socket.SHUT_RDWR)
        except Exception:  # noqa: BLE001 - it was closed just now
            return


def _watch() -> None:
    while True:
        time.sleep(LOOK_EVERY)
        for each in list(_watched):
            each.look()
