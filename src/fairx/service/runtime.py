"""The running service: the newest snapshots in memory, one writer, and the fold as time goes by."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from fairx.store import Store
from fairx.store.database import Database
from fairx.store.deciding import Decider
from fairx.store.errors import NotFound, Unavailable
from fairx.store.scratch import remove_leftovers
from fairx.store.seals import keyed
from fairx.store.snapshots import (
    Snapshot,
    newest_named,
    newest_of_all,
    versions,
)
from fairx.store.writer import OTHER

from .access import Access, id_of
from .clock import SteadyClock
from .folding import fold_forever, fold_once
from .futures import Awaited
from .holding import Holding
from .limits import Bucket, Limits
from .load import Load
from .metrics import Metrics
from .readers import Readers
from .remembering import Answers
from .writing import Writing

T = TypeVar("T")
LOOKUPS = 50.0  # a second, of tokens that are not known
EXPORTS = 4  # at once: they take long, and others read too


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
    archive
        Where archived files are; by itself, where the store says.
    """

    def __init__(
        self,
        store: Store,
        secret: bytes,
        access: Access,
        limits: Limits,
        refresh: float = 0.25,
        clock: Callable[[], float] | None = None,
        archive: Path | None = None,
    ) -> None:
        self.archive = archive
        self.store, self.secret, self.access, self.limits = store, secret, access, limits
        self.refresh, self.clock = refresh, clock or SteadyClock()
        access.clock = self.clock
        self.metrics, self.load, self.answers = Metrics(), Load(limits.at_once), Answers()
        self._held = Holding()
        self.deciders = self._held.deciders
        self._lookups = Bucket(LOOKUPS)
        self._readers, self.exports = Readers(store), asyncio.Semaphore(EXPORTS)
        self._tasks: list[asyncio.Task[None]] = []
        self.ready = False

    async def start(self) -> None:
        """Open the store, load the newest snapshots, and begin to fold."""
        loop = asyncio.get_running_loop()
        await run_in_threadpool(remove_leftovers)
        await run_in_threadpool(self._check)
        self._writing = await run_in_threadpool(Writing, self._connect, loop)
        await self.reload()
        self._tasks = [
            asyncio.create_task(each) for each in (fold_forever(self), self._writing.hurry())
        ]
        self.ready = True

    def _connect(self) -> Database:
        """Open a connection that writes, and seals what it writes."""
        return keyed(self.store, self.secret)

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
        await self._held.close()
        self._readers.close()
        await run_in_threadpool(
            self._writing.writer.close
        )  # the last one, which empties SQLite's log

    async def probe(self) -> None:
        """Write something that leaves no trace, in time, or raise."""
        if not self.ready:
            raise Unavailable("the service starts or stops")
        await self._writing.probe()

    @property
    def queued(self) -> int:
        """How many requests wait to be written."""
        return self._writing.writer.waiting()

    @property
    def reading(self) -> int:
        """How many connections read the store."""
        return self._readers.busy

    def decider(self, name: str) -> Decider:
        """Return the decider of an experiment."""
        found = self.deciders.get(name)
        if found is None:
            raise NotFound(f"experiment {name!r} does not exist")
        return found

    def write(self, kind: str, asked: Any) -> asyncio.Future[Any]:
        """Return what becomes of a write, which is durable by then."""
        future = asyncio.get_running_loop().create_future()
        self.submit(kind, asked, future)
        return future

    def submit(self, kind: str, asked: Any, done: Awaited) -> None:
        """Have something written, and `done` told when it is durable, or what went wrong."""
        self._writing.submit(kind, asked, done)

    async def change(self, function: Callable[[Database], T]) -> T:
        """Run a function in a transaction of the writer."""
        found: T = await self.write(OTHER, function)
        return found

    async def read(self, function: Callable[[Database], T]) -> T:
        """Run a function in a transaction that reads, in another thread."""
        return await run_in_threadpool(self._readers.read, function)

    async def hold(self, snapshot: Snapshot, *, new: bool = False) -> None:
        """Decide by a snapshot from now on, unless a newer one is here or it was deleted."""
        await self._held.take(snapshot, new=new)

    def when_compiled(self, call: Callable[[], object]) -> None:
        """Have something called whenever a policy was compiled beside the requests."""
        self._held.compiled = call

    async def compiled(self, decider: Decider, *, slates: bool = False) -> None:
        """Wait until a decider is compiled, or refuse."""
        await self._held.ready(decider, slates=slates)

    async def reload(self, only: Collection[int] | None = None) -> None:
        """Load snapshots from the store that are newer, and tokens; `only` these, 0 for tokens."""
        async with self._held.lock:
            if only is None:
                there = await self.change(versions)
                held = self._held.versions()
                only = {0, *(n for n in there | held if there.get(n) != held.get(n))}
            found = await self.change(lambda database: newest_of_all(database, only))
            await self._held.take_all(found, only)
            if 0 in only:
                await self.change(self.access.load)

    async def find(self, name: str) -> None:
        """Look for an experiment that another process may have created just now."""
        if self.store.path is None and name not in self.deciders:
            found = await self.read(lambda database: newest_named(database, name))
            if found is not None:
                await self.hold(found, new=True)

    async def find_token(self, header: bytes | None) -> bool:
        """Look for a token that another process may have made just now; tell whether it is there."""
        number = id_of(header)
        if self.store.path is not None or number is None or self._lookups.wait():
            return False
        return await self.read(lambda database: self.access.find(database, number))

    async def fold(self) -> bool:
        """Fold what is mature once; tell whether there may be more."""
        return await fold_once(self)
