"""The audit of the running log: one at a time, off the event loop, and kept for a while."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, NamedTuple

from fairx.auditing import audit
from fairx.auditing.result import Audit
from fairx.logs import read
from fairx.store.errors import Conflict
from fairx.store.logbook import Spool
from fairx.store.snapshots import Snapshot

from .runtime import Runtime

KEPT = 100  # audits
FRESH = 2.0  # seconds
REST = 10.0  # times as long as it took: an audit takes at most a tenth of a core


class Question(NamedTuple):
    """What is asked of the log."""

    alpha: float = 0.05
    low: float | None = None
    high: float | None = None


PLAIN = Question()


class Audited(NamedTuple):
    """An audit and the snapshot it was made at."""

    audit: Audit
    snapshot: int
    time: float


class Audits:
    """Audits of a running service."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._kept: dict[Any, tuple[float, Audited]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._spools: dict[int, Spool] = {}

    def close(self) -> None:
        """Remove what was kept for the next audit."""
        for spool in self._spools.values():
            spool.close()

    async def of(self, name: str, question: Question = PLAIN) -> Audited:
        """Return the audit of an experiment, as of a few seconds ago at most if it is quick."""
        snapshot = self._runtime.decider(name).snapshot
        key = (snapshot.experiment.id, question)
        async with self._locks.setdefault(name, asyncio.Lock()):
            until, kept = self._kept.get(key, (0.0, None))
            if kept is not None and (time.monotonic() < until or kept.snapshot == snapshot.version):
                return kept
            begun, now = time.monotonic(), self._runtime.clock()
            if snapshot.experiment.id not in self._spools:
                self._spools[snapshot.experiment.id] = Spool(snapshot.experiment)
            spool = self._spools[snapshot.experiment.id]
            found = await self._runtime.read(
                lambda database: _audited(spool.extend(database), snapshot, question)
            )
            kept = Audited(found, snapshot.version, now)
            took = time.monotonic() - begun
            while len(self._kept) >= KEPT:  # the questions are the clients': forget the oldest
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (begun + took + max(FRESH, REST * took), kept)
            return kept


def _audited(folder: Path | None, snapshot: Snapshot, question: Question) -> Audit:
    settings = snapshot.experiment.settings
    merit = getattr(settings.policy, "merit", None)
    if merit is None:
        kind = type(settings.policy).__name__
        raise Conflict(f"the audit needs a merit, but policy {kind} has none")
    if folder is None:
        raise Conflict("nothing can be audited yet: no decision is mature")
    low, high = settings.reward_range or (0.0, 1.0)
    ends = (
        low if question.low is None else question.low,
        high if question.high is None else question.high,
    )
    log = read(folder, memory="512MB", threads=1)  # decisions come first
    try:
        found = audit(log, merit, alpha=question.alpha, reward_range=ends, floor=settings.floor)
    finally:
        log.connection.close()
    # Late rewards are not in this log: they were not learned from. The status counts them.
    arms = tuple(arm._replace(late=None) for arm in found.arms)
    return found._replace(source=f"experiment {snapshot.experiment.name}", arms=arms)
