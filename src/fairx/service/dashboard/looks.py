"""What the pages ask of the running service, as of a moment ago for all who look."""

from __future__ import annotations

import asyncio

from fairx.errors import FairxError
from fairx.service import views
from fairx.service.audits import Audits
from fairx.service.live import Live
from fairx.store.errors import NotFound, Unavailable
from fairx.store.snapshots import Snapshot

from .facts import Counted, Judged, Offered
from .kept import Kept
from .offers import offered

PATIENCE = 1.5  # seconds that a list of experiments waits for numbers


class Looks:
    """The API's answers, each kept for a while: counts scan the log."""

    def __init__(self, live: Live, audits: Audits) -> None:
        self._live, self._audits = live, audits
        self.counts, self.judged = Kept(self._count), Kept(self._judge)
        self.offers = Kept(self._offer)

    async def over(self, snapshots: list[Snapshot]) -> None:
        """Find out as much as there is time for, what is oldest first."""
        for kept in (self.counts, self.judged, self.offers):
            kept.forget(self._live.deciders.keys())
        end = asyncio.get_running_loop().time() + PATIENCE
        try:
            async with asyncio.timeout_at(end):
                for snapshot in sorted(snapshots, key=self.counts.until):
                    await self.counts.of(snapshot)
                    await self.judged.of(snapshot)
        except TimeoutError:
            return

    async def _count(self, snapshot: Snapshot) -> Counted:
        now = self._live.clock()
        found = await self._live.read(lambda database: views.status(database, snapshot, now))
        return Counted(found, now)

    async def _judge(self, snapshot: Snapshot) -> Judged:
        try:
            return Judged(await self._audits.of(snapshot.experiment.name))
        except (Unavailable, NotFound):
            raise
        except (FairxError, ValueError) as error:  # what the API answers with 409 or 422
            return Judged(None, str(error))

    async def _offer(self, snapshot: Snapshot) -> Offered:
        judged = await self.judged.of(snapshot)
        if judged.audit is None:
            return Offered(judged, [])
        rows, newest = judged.audit.rows, self._live.decider(snapshot.experiment.name).snapshot
        found = await self._live.read(lambda database: offered(database, newest, rows))
        return Offered(judged, found.astype(int).tolist())
