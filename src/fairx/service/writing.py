"""What is written, from the side of those who wait for it: an answer in time, or an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fairx.store.database import Database
from fairx.store.errors import Unavailable
from fairx.store.writer import OTHER, Job, Writer

from .futures import Awaited, Pending

PROBED_IN = 3.0  # seconds
LOOK_EVERY = 0.25  # seconds


class Writing:
    """The writer's thread and the event loop's futures. Made in a thread, used in the event loop."""

    def __init__(
        self,
        connect: Callable[[], Database],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._loop, self._pending = loop, Pending()
        self.writer = Writer(connect, self._tell, _is_awaited)
        self._probe: asyncio.Future[Any] | None = None
        self._round: list[Job] = []  # what this round of the event loop asks for

    def write(self, kind: str, asked: Any) -> asyncio.Future[Any]:
        """Return what becomes of a write, which is durable by then."""
        future = self._loop.create_future()
        self.submit(kind, asked, future)
        return future

    def submit(self, kind: str, asked: Any, done: Awaited) -> None:
        """Have something written, and `done` told.

        What a round of the event loop asks for goes to the writer at its end, and at once: woken by
        the first, the writer would write that one alone.
        """
        self._pending.add(done, self._loop.time())
        if not self._round:
            self._loop.call_soon(self._hand_over)
        self._round.append(Job(kind, asked, done))

    def _hand_over(self) -> None:
        jobs, self._round = self._round, []
        self.writer.submit_all(jobs)

    async def probe(self) -> None:
        """Write something that leaves no trace, in time, or raise; who asks meanwhile shares it."""
        if self._probe is None or self._probe.done():
            self._probe = self.write(OTHER, lambda database: database.probe())
            self._probe.add_done_callback(lambda done: done.exception())  # nobody may look any more
        try:
            await asyncio.wait_for(asyncio.shield(self._probe), PROBED_IN)
        except Unavailable:
            raise
        except Exception as error:
            raise Unavailable(f"the store cannot be written: {error!r}") from error

    async def hurry(self) -> None:
        """Give up what the writer does not answer in time, for ever."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            self._pending.look(self._loop.time())

    def _tell(self, outcomes: list[tuple[Any, Any]]) -> None:
        """Hand outcomes to the event loop; called by the writer."""
        self._loop.call_soon_threadsafe(self._pending.settle, outcomes)


def _is_awaited(future: Awaited) -> bool:
    """Tell whether somebody still waits for an outcome: else nothing need be written."""
    return not future.done()
