"""Connections that read, kept for the next reader."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import TypeVar

from fairx.store import Store
from fairx.store.database import Database
from fairx.store.errors import Unavailable

T = TypeVar("T")


class Readers:
    """As many connections as there were readers at once. Called from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._free: queue.SimpleQueue[Database] = queue.SimpleQueue()

    def read(self, function: Callable[[Database], T]) -> T:
        """Run a function in a transaction; where a kept connection turns out dead, by a new one."""
        try:
            database = self._free.get_nowait()
        except queue.Empty:
            return self._read_by(self._connected(), function)
        try:
            return self._read_by(database, function)
        except Unavailable:
            return self._read_by(self._connected(), function)

    def close(self) -> None:
        """Close those that nobody uses."""
        while not self._free.empty():
            self._free.get_nowait().close()

    def _read_by(self, database: Database, function: Callable[[Database], T]) -> T:
        try:
            with database.transaction():
                found = function(database)
        except Exception as error:
            if database.is_lost(error):
                database.close()
                raise Unavailable(f"the store cannot be reached: {error}") from error
            self._free.put(database)
            raise
        self._free.put(database)
        return found

    def _connected(self) -> Database:
        try:
            return self._store.reader()
        except Exception as error:
            raise Unavailable(f"the store cannot be reached: {error}") from error
