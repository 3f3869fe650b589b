"""What takes time to find out: by one task at a time, and kept for a while, for all who ask."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from fairx.store.errors import NotFound, Overloaded, Unavailable
from fairx.store.snapshots import Snapshot

from .budget import Budget

P = ParamSpec("P")
T = TypeVar("T")
Key = tuple[int, tuple[Any, ...]]  # an experiment's id, for a name can be used again; a question
FRESH = 1.5  # seconds
REST = 10.0  # times as long as it took: it takes at most a tenth of a core
MOST = 10_000  # answers
KNOWN = (NotFound, Overloaded, Unavailable)  # failures that say nothing of the next time


class _Held(Generic[T]):
    """What is known as the answer, and the task that finds out more."""

    def __init__(self) -> None:
        self.until = 0.0
        self.task: asyncio.Task[T] | None = None
        self.value: tuple[()] | tuple[T] = ()
        self.failure: ValueError | MemoryError | None = (
            None  # why there was no answer, the last time
        )
        self.version = 0  # of the snapshot at which that was


class Cache(Generic[P, T]):
    """Answers to questions about each experiment, as of a moment ago.

    Parameters
    ----------
    make
        Finds out: of an experiment at a snapshot, and of whatever else is asked.
    fresh
        Seconds for which an answer is kept at least.
    most
        How many answers are kept; the oldest is forgotten first.
    still
        Tells whether an answer is right at a snapshot however old it is.
    budget
        What all answers together may take; without, each may take a tenth of a core.
    worth
        Tells whether an answer is kept at all; else it is for those who asked while it was made.
    """

    def __init__(
        self,
        make: Callable[Concatenate[Snapshot, P], Awaitable[T]],
        fresh: float = FRESH,
        most: int = MOST,
        still: Callable[[T, Snapshot], bool] = lambda value, snapshot: False,
        budget: Budget | None = None,
        worth: Callable[[T], bool] = lambda value: True,
    ) -> None:
        self._budget, self._worth = budget, worth
        self._make, self._fresh, self._most, self._still = make, fresh, most, still
        self._held: dict[Key, _Held[T]] = {}
        self._locks: dict[int, asyncio.Lock] = {}

    def __len__(self) -> int:
        return len(self._held)

    async def of(self, snapshot: Snapshot, *asked: P.args, **named: P.kwargs) -> T:
        """Return it; who asks while it is being made waits for the same."""
        key = (snapshot.experiment.id, (*asked, *named.items()))
        held = self._held.get(key)
        if held is None:
            held = self._room_for(key)
        if held.value and self._is_good(held, held.value[0], snapshot):
            return held.value[0]
        if held.failure and (held.version == snapshot.version or time.monotonic() < held.until):
            raise held.failure
        if held.task is None:
            wait = self._budget.wait() if self._budget else 0.0
            if wait and held.value:
                return held.value[0]
            if wait:
                raise Overloaded(f"other questions took so long: try again in {wait:.0f} s")
            make = partial(self._make, snapshot, *asked, **named)
            held.task = asyncio.create_task(self._made(key, held, make, snapshot.version))
            held.task.add_done_callback(_seen)
        # One who leaves must not take it from the others.
        return await asyncio.shield(held.task)

    def last(self, snapshot: Snapshot) -> T | None:
        """Return it as it was when last made, however long ago; None before."""
        held = self._held.get((snapshot.experiment.id, ()))
        return held.value[0] if held and held.value else None

    def until(self, snapshot: Snapshot) -> float:
        """Return when it is due again, to serve the one that waits longest."""
        held = self._held.get((snapshot.experiment.id, ()))
        return held.until if held else 0.0

    def forget_others(self, experiments: Collection[int]) -> None:
        """Keep nothing of experiments that are not among these."""
        for key in [key for key in self._held if key[0] not in experiments]:
            del self._held[key]
        for number in self._locks.keys() - set(experiments):
            del self._locks[number]

    def _is_good(self, held: _Held[T], value: T, snapshot: Snapshot) -> bool:
        return time.monotonic() < held.until or self._still(value, snapshot)

    def _room_for(self, key: Key) -> _Held[T]:
        """Return where a new answer goes; forget the oldest ones that nobody waits for."""
        idle = [old for old, held in self._held.items() if held.task is None]
        for old in idle[: max(0, len(self._held) + 1 - self._most)]:
            del self._held[old]
        held = self._held[key] = _Held()
        return held

    async def _made(
        self, key: Key, held: _Held[T], make: Callable[[], Awaitable[T]], version: int
    ) -> T:
        held.failure = None
        try:
            async with self._locks.setdefault(0 if self._budget else key[0], asyncio.Lock()):
                begun = time.monotonic()
                try:
                    value = await make()
                finally:
                    took = time.monotonic() - begun
                    held.until = begun + took + max(self._fresh, REST * took)
                    if self._budget:
                        self._budget.use(took)
        except KNOWN:  # these may be others at once
            self._forget(key, held)
            raise
        except (ValueError, MemoryError) as failure:
            held.failure, held.version, held.until = failure, version, begun + took + REST * took
            raise
        except BaseException:
            self._forget(key, held)
            raise
        finally:
            held.task = None
        if self._worth(value):
            held.value = (value,)
        else:
            self._held.pop(key, None)
        return value

    def _forget(self, key: Key, held: _Held[T]) -> None:
        if not held.value:  # a question that has no answer takes no room
            self._held.pop(key, None)


def _seen(task: asyncio.Task[Any]) -> None:
    """Look at how a task ended, for those who asked may all be gone."""
    if not task.cancelled():
        task.exception()
