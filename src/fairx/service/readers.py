"""Connections that read: a few at a time, and fewer kept for the next reader."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

from fairx.store import Store
from fairx.store.database import Database
from fairx.store.errors import Overloaded, Unavailable

T = TypeVar("T")
MOST = 16  # connections at once
KEPT = 4  # connections that nobody uses
PATIENCE = 5.0  # seconds that a reader waits for one


class Readers:
    """As many connections as there are readers at once, up to a limit. Called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._free: queue.LifoQueue[Database] = queue.LifoQueue(KEPT)
        self._room = threading.BoundedSemaphore(MOST)

    def read(self, function: Callable[[Database], T]) -> T:
        """Run a function in a transaction; where a kept connection turns out dead, by a new one."""
        if not self._room.acquire(timeout=PATIENCE):
            raise Overloaded(f"{MOST} others read already")
        try:
            try:
                database = self._free.get_nowait()
            except queue.Empty:
                return self._read_by(self._connected(), function)
            try:
                return self._read_by(database, function)
            except Unavailable:
                return self._read_by(self._connected(), function)
        finally:
            self._room.release()

    @property
    def busy(self) -> int:
        """How many connections are in use."""
        return MOST - self._room._value

    def close(self) -> None:
        """Close those that nobody uses."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._free.get_nowait().close()

    def _read_by(self, database: Database, function: Callable[[Database], T]) -> T:
        try:
            with database.transaction():
                found = function(database)
        except Exception as error:
            if database.is_lost(error):
                database.close()
                raise Unavailable(f"the store cannot be reached: {error}") from error
            self._give_back(database)
            raise
        self._give_back(database)
        return found

    def _give_back(self, database: Database) -> None:
        try:
            self._free.put_nowait(database)
        except queue.Full:
            database.close()

    def _connected(self) -> Database:
        try:
            return self._store.reader()
        except Exception as error:
            raise Unavailable(f"the store cannot be reached: {error}") from error
