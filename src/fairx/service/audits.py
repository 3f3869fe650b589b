"""The audit of the running log: one at a time, off the event loop, and kept for a while."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

from fairx.auditing import audit
from fairx.auditing.result import Audit
from fairx.store.database import Database
from fairx.store.errors import Conflict
from fairx.store.snapshots import Snapshot

from .live import Live
from .logbook import audited

KEPT = 100  # audits
FRESH = 2.0  # seconds
REST = 10.0  # times as long as it took: an audit takes at most a tenth of a core


class Question(NamedTuple):
    """What is asked of the log."""

    alpha: float = 0.05
    low: float | None = None
    high: float | None = None


class Audited(NamedTuple):
    """An audit and the snapshot it was made at."""

    audit: Audit
    snapshot: int
    time: float


class Audits:
    """Audits of a running service."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._kept: dict[Any, tuple[float, Audited]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    async def of(self, name: str, question: Question = Question()) -> Audited:
        """Return the audit of an experiment, as of a few seconds ago at most if it is quick."""
        snapshot = self._live.decider(name).snapshot
        key = (snapshot.experiment.id, question)
        async with self._locks.setdefault(name, asyncio.Lock()):
            until, kept = self._kept.get(key, (0.0, None))
            if kept is not None and (time.monotonic() < until or kept.snapshot == snapshot.version):
                return kept
            begun, now = time.monotonic(), self._live.clock()
            found = await self._live.read(lambda database: _audited(database, snapshot, question))
            kept = Audited(found, snapshot.version, now)
            took = time.monotonic() - begun
            while len(self._kept) >= KEPT:  # the questions are the clients': forget the oldest
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (begun + took + max(FRESH, REST * took), kept)
            return kept


def _audited(database: Database, snapshot: Snapshot, question: Question) -> Audit:
    settings = snapshot.experiment.settings
    merit = getattr(settings.policy, "merit", None)
    if merit is None:
        kind = type(settings.policy).__name__
        raise Conflict(f"the audit needs a merit, but policy {kind} has none")
    log = audited(database, snapshot.experiment)
    if log is None:
        raise Conflict("nothing can be audited yet: no decision is mature")
    low, high = settings.reward_range or (0.0, 1.0)
    ends = (
        low if question.low is None else question.low,
        high if question.high is None else question.high,
    )
    return audit(log, merit, alpha=question.alpha, rewards=ends, floor=settings.floor)
