"""The running service: the newest snapshots in memory, one writer, and the fold as time goes by."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from fairx.store import Store
from fairx.store.database import Database
from fairx.store.deciding import Decider
from fairx.store.errors import NotFound, Unavailable
from fairx.store.folding import AT_ONCE, fold
from fairx.store.snapshots import ServedExperiment, Snapshot, newest_of_all
from fairx.store.writer import OTHER, Writer

from .access import Access
from .clock import SteadyClock
from .futures import settle
from .limits import Limits
from .metrics import Metrics
from .readers import Readers

T = TypeVar("T")
LOGGER = logging.getLogger("fairx")
EVERYTHING_EVERY = 5.0  # seconds: news may be lost with a connection


class Runtime:
    """What the routes work with.

    Parameters
    ----------
    store
        Where the log is.
    secret
        Signs decision ids.
    refresh
        Seconds between folds.
    clock
        Seconds since 1970, which do not jump; tests have their own.
    """

    def __init__(
        self,
        store: Store,
        secret: bytes,
        access: Access,
        limits: Limits,
        refresh: float = 0.25,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.store, self.secret, self.access, self.limits = store, secret, access, limits
        self.refresh, self.clock = refresh, clock or SteadyClock()
        self.metrics = Metrics()
        self.deciders: dict[str, Decider] = {}
        self._readers = Readers(store)
        self._tasks: list[asyncio.Task[None]] = []
        self._holding = asyncio.Lock()
        self.ready = False
        self._caught_up = 0.0

    async def start(self) -> None:
        """Open the store, load the newest snapshots, and begin to fold."""
        self._loop = asyncio.get_running_loop()
        await run_in_threadpool(self._check)
        self._writer = await run_in_threadpool(Writer, self.store.writer, self._tell)
        await self.reload()
        self._tasks = [asyncio.create_task(self._fold_forever())]
        self.ready = True

    def _check(self) -> None:
        """Refuse a store that is damaged, before anything is acknowledged."""
        database = self.store.writer()
        try:
            database.check()
        finally:
            database.close()

    async def stop(self) -> None:
        """Write what was asked for, and close everything."""
        self.ready = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._readers.close()
        await run_in_threadpool(self._writer.close)  # the last one, which empties SQLite's log

    @property
    def healthy(self) -> bool:
        """Whether the store can be written, as far as is known."""
        return self.ready and self._writer.healthy

    @property
    def queued(self) -> int:
        """How many requests wait to be written."""
        return self._writer.waiting()

    def decider(self, name: str) -> Decider:
        """Return the decider of an experiment."""
        found = self.deciders.get(name)
        if found is None:
            raise NotFound(f"experiment {name!r} does not exist")
        return found

    def write(self, kind: str, asked: Any) -> asyncio.Future[Any]:
        """Return what becomes of a write, which is durable by then."""
        future = self._loop.create_future()
        self._writer.submit(kind, asked, future)
        return future

    async def change(self, function: Callable[[Database], T]) -> T:
        """Run a function in a transaction of the writer."""
        found: T = await self.write(OTHER, function)
        return found

    async def read(self, function: Callable[[Database], T]) -> T:
        """Run a function in a transaction that reads, in another thread."""
        return await run_in_threadpool(self._readers.read, function)

    async def hold(self, snapshot: Snapshot, *, new: bool = False) -> None:
        """Decide by a snapshot from now on, unless a newer one is here or it was deleted."""
        async with self._holding:
            held = self.deciders.get(snapshot.experiment.name)
            if held is not None and held.snapshot.experiment.id == snapshot.experiment.id:
                if held.snapshot.version >= snapshot.version:
                    return
                snapshot = snapshot._replace(experiment=held.snapshot.experiment)  # paused, perhaps
            elif not new:
                return
            await self._decide_by(snapshot)

    async def reload(self) -> None:
        """Load the newest snapshots and tokens from the store."""
        async with self._holding:
            found = await self.change(newest_of_all)
            names = {snapshot.experiment.name for snapshot in found}
            for name in self.deciders.keys() - names:
                del self.deciders[name]
            for snapshot in found:
                held = self.deciders.get(snapshot.experiment.name)
                known = held and (held.snapshot.experiment, held.snapshot.version)
                if known != (snapshot.experiment, snapshot.version):
                    await self._decide_by(snapshot)
            await self.change(self.access.load)

    async def _decide_by(self, snapshot: Snapshot) -> None:
        """Make a decider in another thread: its first one may have to be compiled."""
        held = self.deciders.get(snapshot.experiment.name)
        slates = held is not None and held.is_drawing  # one that was asked for slates will be again
        decider = await run_in_threadpool(Decider, snapshot, slates)
        self.deciders[snapshot.experiment.name] = decider

    async def catch_up(self) -> bool:
        """Load what other processes may have added, at most once a second; tell whether it did."""
        if self.store.path is not None or time.monotonic() < self._caught_up + 1.0:
            return False
        self._caught_up = time.monotonic()
        await self.reload()
        return True

    async def fold(self) -> bool:
        """Fold what is mature once; tell whether there may be more."""
        more = False
        for experiment in [decider.snapshot.experiment for decider in self.deciders.values()]:
            snapshot = await self._folded(experiment)
            held = self.deciders.get(experiment.name)
            if snapshot is None or held is None:
                continue  # nothing new, or it was deleted meanwhile
            gained = snapshot.watermark - held.snapshot.watermark
            await self.hold(snapshot)
            more = more or gained >= AT_ONCE
            self.metrics.matured(experiment.name, gained)
        return more

    async def _folded(self, experiment: ServedExperiment) -> Snapshot | None:
        """Fold one experiment; what is wrong with it must not keep the others waiting."""
        now = self.clock()
        try:
            return await self.change(lambda database: fold(database, experiment, now))
        except Unavailable:
            raise
        except Exception:  # the next round may fare better
            LOGGER.exception("fold failed", extra={"experiment": experiment.name})
            return None

    async def _fold_forever(self) -> None:
        last = time.monotonic()
        more = False
        while True:
            await asyncio.sleep(0 if more else self.refresh)
            try:
                more = await self.fold()
                news = await self.change(lambda database: database.news())
                if news or time.monotonic() - last > EVERYTHING_EVERY:
                    last = time.monotonic()
                    await self.reload()
            except Exception as error:  # noqa: BLE001 - the next round may fare better
                more = False
                LOGGER.warning("fold failed", extra={"error": str(error)})

    def _tell(self, outcomes: list[tuple[Any, Any]]) -> None:
        """Hand outcomes to the event loop; called by the writer."""
        self._loop.call_soon_threadsafe(settle, outcomes)
