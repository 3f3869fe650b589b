"""The audit of the running log, and its counts: one at a time, off the event loop, and kept for a while."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from fairx.auditing import audit
from fairx.auditing.result import Audit
from fairx.auditing.slates import SlateAudit, audit_slates
from fairx.logs import Log
from fairx.logs.spooled import spooled
from fairx.merit import Merit
from fairx.store.errors import Conflict
from fairx.store.settings import merit_of
from fairx.store.snapshots import Snapshot
from fairx.store.spool import Spool

from . import answers, views
from .budget import Budget
from .cache import Cache
from .runtime import Runtime

MEMORY = "256MB"  # of DuckDB, for the rows of an audit
KEPT = 100  # audits: the questions are the clients'
FRESH = 2.0  # seconds
LARGE = 10_000  # decisions: to count so many is worth keeping
PART, AHEAD = 0.25, 60.0  # of a core for the audits of all experiments, and seconds used in advance


class Question(NamedTuple):
    """What is asked of the log."""

    alpha: float = 0.05
    low: float | None = None
    high: float | None = None


PLAIN = Question()


class Audited(NamedTuple):
    """An audit and the snapshot it was made at."""

    audit: Audit | SlateAudit  # of slates where any was made
    snapshot: int
    time: float


class Audits:
    """Audits of a running service."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._spools: dict[int, Spool] = {}
        self.cache = Cache(self._make, FRESH, KEPT, _is_of, Budget(PART, AHEAD))
        self._counts = Cache(self._count, 0.0, worth=lambda found: found.decisions >= LARGE)

    def close(self) -> None:
        """Remove what was kept for the next audit."""
        for spool in self._spools.values():
            spool.close()

    async def of(self, name: str, question: Question = PLAIN) -> Audited:
        """Return the audit of an experiment, as of a few seconds ago at most if it is quick."""
        return await self.cache.of(self._runtime.decider(name).snapshot, question)

    async def counts(self, name: str) -> answers.Status:
        """Return what came in for an experiment: now, or as of a moment ago where that is much."""
        return await self._counts.of(self._runtime.decider(name).snapshot)

    async def _count(self, snapshot: Snapshot) -> answers.Status:
        now = self._runtime.clock()
        return await self._runtime.read(lambda database: views.status(database, snapshot, now))

    async def _make(self, snapshot: Snapshot, question: Question) -> Audited:
        self._forget_deleted()
        now, number = self._runtime.clock(), snapshot.experiment.id
        if number not in self._spools:
            self._spools[number] = Spool(snapshot.experiment, self._runtime.archive)
        spool = self._spools[number]
        found = await self._runtime.read(
            lambda database: _audited(spool, spool.extend(database), snapshot, question)
        )
        return Audited(found, snapshot.version, now)

    def _forget_deleted(self) -> None:
        """Remove what was kept of experiments that are no more; no other audit is under way."""
        there = {decider.snapshot.experiment.id for decider in self._runtime.deciders.values()}
        for number in self._spools.keys() - there:
            self._spools.pop(number).close()


def _is_of(audited: Audited, snapshot: Snapshot) -> bool:
    """Tell whether nothing has become mature since."""
    return audited.snapshot == snapshot.version


def _audited(
    spool: Spool, folder: Path | None, snapshot: Snapshot, question: Question
) -> Audit | SlateAudit:
    merit = merit_of(snapshot.experiment.settings)
    if merit is None:
        kind = type(snapshot.experiment.settings.policy).__name__
        raise Conflict(f"the audit needs a merit, but policy {kind} has none")
    if folder is None:
        waits = (
            "no slate is mature at all of its places" if spool.places else "no decision is mature"
        )
        raise Conflict(f"nothing can be audited yet: {waits}")
    log = _log(spool, folder, snapshot)
    try:
        made = _of_slates if spool.places else _of_decisions
        found = made(log, merit, snapshot, question)
    except MemoryError:
        raise Conflict(
            f"nothing can be audited: the log does not fit into {MEMORY}; export it for `fairx audit`"
        ) from None
    finally:
        log.connection.close()
    return found._replace(source=f"experiment {snapshot.experiment.name}")


def _log(spool: Spool, folder: Path, snapshot: Snapshot) -> Log:
    """Return the log of what is mature; with many arms, pools are looked up by their number."""
    names = [arm.name for arm in snapshot.arms]
    return spooled(folder, spool.pools and spool.pools.table(names), MEMORY)


def _of_decisions(log: Log, merit: Merit, snapshot: Snapshot, question: Question) -> Audit:
    ends, floor = _ends(snapshot, question), snapshot.experiment.settings.floor
    found = audit(log, merit, alpha=question.alpha, reward_range=ends, floor=floor)
    # Late rewards are not in this log: they were not learned from. The status counts them.
    return found._replace(arms=tuple(arm._replace(late=None) for arm in found.arms))


def _of_slates(log: Log, merit: Merit, snapshot: Snapshot, question: Question) -> SlateAudit:
    """Audit slates, by the weight of places; a decision that is no slate has one, of weight 1."""
    ends, floor = _ends(snapshot, question), snapshot.experiment.settings.floor
    return audit_slates(log, merit, alpha=question.alpha, reward_range=ends, floor=floor)


def _ends(snapshot: Snapshot, question: Question) -> tuple[float, float]:
    """Return the range of rewards."""
    low, high = snapshot.experiment.settings.reward_range or (0.0, 1.0)
    return (
        low if question.low is None else question.low,
        high if question.high is None else question.high,
    )
