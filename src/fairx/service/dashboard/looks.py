"""What the pages ask of the running service, as of a moment ago for all who look."""

from __future__ import annotations

import asyncio

from fairx.auditing.slates import SlateAudit
from fairx.errors import FairxError
from fairx.service import views
from fairx.service.audits import Audits
from fairx.service.cache import Cache
from fairx.service.runtime import Runtime
from fairx.store.candidacies import candidacies
from fairx.store.errors import NotFound, Unavailable
from fairx.store.snapshots import Snapshot

from .facts import Candidacies, Counted, Judged

PATIENCE = 1.5  # seconds that a list of experiments waits for numbers


class Looks:
    """The API's answers, each kept for a while: counts scan the log."""

    def __init__(self, runtime: Runtime, audits: Audits) -> None:
        self._runtime, self._audits = runtime, audits
        self.counts, self.judged = Cache(self._count), Cache(self._judge)
        self.candidacies = Cache(self._count_candidacies)

    async def over(self, snapshots: list[Snapshot]) -> None:
        """Find out as much as there is time for, what is oldest first."""
        there = {decider.snapshot.experiment.id for decider in self._runtime.deciders.values()}
        for cache in (self.counts, self.judged, self.candidacies):
            cache.forget_others(there)
        end = asyncio.get_running_loop().time() + PATIENCE
        try:
            async with asyncio.timeout_at(end):
                for snapshot in sorted(snapshots, key=self.counts.until):
                    await self.counts.of(snapshot)
                    await self.judged.of(snapshot)
        except TimeoutError:
            return

    async def _count(self, snapshot: Snapshot) -> Counted:
        now = self._runtime.clock()
        found = await self._runtime.read(lambda database: views.status(database, snapshot, now))
        return Counted(found, now)

    async def _judge(self, snapshot: Snapshot) -> Judged:
        try:
            return Judged(await self._audits.of(snapshot.experiment.name))
        except (Unavailable, NotFound):
            raise
        except (FairxError, ValueError) as error:  # what the API answers with 409 or 422
            return Judged(None, str(error))

    async def _count_candidacies(self, snapshot: Snapshot) -> Candidacies:
        judged = await self.judged.of(snapshot)
        audit, newest = judged.audit, self._runtime.decider(snapshot.experiment.name).snapshot
        if audit is None:
            return Candidacies(judged, [])
        if isinstance(audit, SlateAudit):
            offered = {line.arm: line.offered for line in audit.lines}
            return Candidacies(judged, [offered.get(arm.name, 0) for arm in newest.arms])
        rows = audit.rows
        found = await self._runtime.read(lambda database: candidacies(database, newest, rows))
        return Candidacies(judged, found.astype(int).tolist())
