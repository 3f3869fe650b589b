"""The deciders that are in memory: the newest of each experiment, compiled beside the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from starlette.concurrency import run_in_threadpool

from fairx.store.deciding import Decider
from fairx.store.errors import Overloaded
from fairx.store.snapshots import Snapshot

COMPILED_IN = 3.0  # seconds that a request waits, where nothing was compiled for its policy yet


class Holding:
    """Deciders by the name of their experiment."""

    def __init__(self) -> None:
        self.compiled: Callable[[], object] = lambda: None  # called when something was
        self.deciders: dict[str, Decider] = {}
        self.lock = asyncio.Lock()
        self._making: dict[tuple[Decider, bool], asyncio.Task[None]] = {}

    async def take(self, snapshot: Snapshot, *, new: bool = False) -> None:
        """Decide by a snapshot from now on, unless a newer one is here or it was deleted."""
        async with self.lock:
            held = self.deciders.get(snapshot.experiment.name)
            if held is not None and held.snapshot.experiment.id == snapshot.experiment.id:
                if held.snapshot.version >= snapshot.version:
                    return
                snapshot = snapshot._replace(experiment=held.snapshot.experiment)  # paused, perhaps
                await self.decide_by(snapshot)
            elif new:  # it is answered at once, and compiled meanwhile
                decider = self.deciders[snapshot.experiment.name] = Decider(snapshot, ready=False)
                self._made(decider, slates=False)

    def versions(self) -> dict[int, tuple[int, str]]:
        """Return the version of each experiment by which is decided, and its status."""
        found = [decider.snapshot for decider in self.deciders.values()]
        return {each.experiment.id: (each.version, each.experiment.status) for each in found}

    async def take_all(self, found: Sequence[Snapshot], only: Collection[int]) -> None:
        """Decide by what the store has; `only`: the experiments that were looked for."""
        there = {snapshot.experiment.id for snapshot in found}
        for name, decider in list(self.deciders.items()):
            number = decider.snapshot.experiment.id
            if number not in there and number in only:
                del self.deciders[name]
        for snapshot in found:
            held = self.deciders.get(snapshot.experiment.name)
            known = held and (held.snapshot.experiment, held.snapshot.version)
            if known != (snapshot.experiment, snapshot.version):
                await self.decide_by(snapshot)

    async def decide_by(self, snapshot: Snapshot) -> None:
        """Make a decider in another thread: its first one may have to be compiled.

        It is none of those in which the store is read, or learning would wait behind who reads.
        """
        held = self.deciders.get(snapshot.experiment.name)
        slates = held is not None and held.is_drawing  # one that was asked for slates will be again
        decider = await asyncio.to_thread(Decider, snapshot, slates)
        self.deciders[snapshot.experiment.name] = decider

    async def ready(self, decider: Decider, *, slates: bool = False) -> None:
        """Wait until a decider is compiled, for slates too; not for long, for clients do not either."""
        if decider.is_drawing if slates else decider.is_ready:
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._made(decider, slates)), COMPILED_IN)
        except TimeoutError:
            raise Overloaded(
                f"policy {type(decider.snapshot.experiment.settings.policy).__name__} is being "
                "compiled, which takes some seconds once: try again"
            ) from None

    async def close(self) -> None:
        """Wait for what is being compiled, which nothing can stop."""
        await asyncio.gather(*self._making.values(), return_exceptions=True)

    def _made(self, decider: Decider, slates: bool) -> asyncio.Task[None]:
        """Return the task that makes a decider ready, one for all who wait."""
        make: Callable[[], object] = decider.draws_slates if slates else decider.make_ready
        key = (decider, slates)
        if key not in self._making:
            task = self._making[key] = asyncio.create_task(self._beside(make))
            task.add_done_callback(lambda _: self._making.pop(key, None))
        return self._making[key]

    async def _beside(self, make: Callable[[], object]) -> None:
        await run_in_threadpool(make)
        self.compiled()
