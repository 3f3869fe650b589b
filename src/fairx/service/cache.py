"""What takes time to find out: by one task at a time, and kept for a while, for all who look."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from fairx.store.snapshots import Snapshot

T = TypeVar("T")
FRESH = 1.5  # seconds
REST = 10.0  # times as long as it took


class _Held(Generic[T]):
    """What is known of one experiment, and the task that finds out more."""

    def __init__(self, experiment: int) -> None:
        self.experiment, self.until = experiment, 0.0
        self.task: asyncio.Task[T] | None = None
        self.value: tuple[()] | tuple[T] = ()


class Cache(Generic[T]):
    """Something of each experiment, as of a moment ago."""

    def __init__(self, make: Callable[[Snapshot], Awaitable[T]], fresh: float = FRESH) -> None:
        self._make, self._fresh = make, fresh
        self._held: dict[str, _Held[T]] = {}

    async def of(self, snapshot: Snapshot) -> T:
        """Return it; who asks while it is being made waits for the same."""
        held = self._of(snapshot)
        if held.value and time.monotonic() < held.until:
            return held.value[0]
        if held.task is None:
            held.task = asyncio.create_task(self._made(snapshot, held))
            held.task.add_done_callback(_seen)
        # One viewer who leaves must not take it from the others.
        return await asyncio.shield(held.task)

    def last(self, snapshot: Snapshot) -> T | None:
        """Return it as it was when last made, however long ago; None before."""
        held = self._of(snapshot)
        return held.value[0] if held.value else None

    def until(self, snapshot: Snapshot) -> float:
        """Return when it is due again, to serve the one that waits longest."""
        return self._of(snapshot).until

    def forget(self, names: Any) -> None:
        """Keep nothing of experiments that are not among these."""
        for name in self._held.keys() - names:
            del self._held[name]

    def _of(self, snapshot: Snapshot) -> _Held[T]:
        name, number = snapshot.experiment.name, snapshot.experiment.id
        held = self._held.get(name)
        if held is None or held.experiment != number:  # a name can be used again
            held = self._held[name] = _Held(number)
        return held

    async def _made(self, snapshot: Snapshot, held: _Held[T]) -> T:
        begun = time.monotonic()
        try:
            value = await self._make(snapshot)
        finally:
            held.task = None
        took = time.monotonic() - begun
        held.until = begun + took + max(self._fresh, REST * took)
        held.value = (value,)
        return value


def _seen(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, for its viewers may all be gone."""
    if not task.cancelled():
        task.exception()
