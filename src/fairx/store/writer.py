"""One thread writes: what many requests ask for goes into one transaction, and is answered after."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import crash_points
from .database import Database
from .decisions import write_decisions
from .errors import Unavailable
from .rewards import take_in
from .slates import write_slates

DECISIONS, SLATES, REWARDS, OTHER = "decisions", "slates", "rewards", "other"
LARGEST_BATCH = 512  # jobs, and those that came with the last of them
MOST_EVENTS = 8192  # in their rewards and slates; and those that came with the last of them
TRIES = 5  # where another process was in the way


def changed(database: Database, changes: Sequence[Callable[[Database], Any]]) -> list[Any]:
    """Make changes one by one; one that is refused leaves the others as they are."""
    outcomes = []
    for change in changes:
        try:
            with database.transaction():  # a savepoint of the one that is open
                outcomes.append(change(database))
        except ValueError as refused:  # FairxError is one
            outcomes.append(refused)
    return outcomes


TOGETHER: dict[str, Callable[[Database, list[Any]], Sequence[Any]]] = {
    DECISIONS: write_decisions,
    SLATES: write_slates,
    REWARDS: take_in,
    OTHER: changed,
}


class Job(NamedTuple):
    """Something to write, and whom to tell."""

    kind: str
    asked: Any  # (decision, due), AskedSlate, Batch, or a function of the database
    done: Any


def _events(job: Job) -> int:
    """Return how many rewards or places a job has."""
    if job.kind == REWARDS:
        return len(job.asked.rewards)
    return len(job.asked.rows) if job.kind == SLATES else 1


class Writer:
    """Owns the connection that writes, and commits in groups.

    Parameters
    ----------
    connect
        Opens the connection; called again when it breaks.
    tell
        Is handed the outcomes of one transaction, (done, outcome) each, after its commit. An
        outcome is an answer or an exception.
    is_awaited
        Tells of a `done` whether somebody still waits for it; else the job is left out.
    """

    def __init__(
        self,
        connect: Callable[[], Database],
        tell: Callable[[list[tuple[Any, Any]]], None],
        is_awaited: Callable[[Any], bool] = lambda done: True,
    ) -> None:
        self._connect, self._tell, self._is_awaited = connect, tell, is_awaited
        self._queue: queue.SimpleQueue[list[Job] | None] = queue.SimpleQueue()
        self._asked = self._taken = 0  # jobs, by the one side and by the other
        self.database: Database | None = connect()
        self.healthy = True
        self._thread = threading.Thread(target=self._run, name="fairx writer", daemon=True)
        self._thread.start()

    def submit(self, kind: str, asked: Any, done: Any) -> None:
        """Ask for something to be written; `tell` gets its outcome with `done`."""
        self.submit_all([Job(kind, asked, done)])

    def submit_all(self, jobs: list[Job]) -> None:
        """Ask for several things; the writer is woken once."""
        self._asked += len(jobs)
        for start in range(0, len(jobs), LARGEST_BATCH):
            self._queue.put(jobs[start : start + LARGEST_BATCH])

    def waiting(self) -> int:
        """Return how many requests wait to be written."""
        return self._asked - self._taken

    def close(self) -> None:
        """Write what was asked for, then stop."""
        self._queue.put(None)
        self._thread.join()
        if self.database is not None:
            self.database.close()

    def _run(self) -> None:
        going = True
        while going:
            jobs, going = self._gathered()
            if jobs:
                outcomes = self._written(jobs)
                crash_points.reach("before_acknowledge")
                self._tell([(job.done, o) for job, o in zip(jobs, outcomes, strict=True)])

    def _gathered(self) -> tuple[list[Job], bool]:
        """Wait for jobs, and take those that have come meanwhile, too."""
        jobs, events = list[Job](), 0
        while (found := self._queue.get()) is not None:
            self._taken += len(found)
            awaited = [job for job in found if self._is_awaited(job.done)]
            jobs += awaited
            events += sum(map(_events, awaited))
            is_full = len(jobs) >= LARGEST_BATCH or events >= MOST_EVENTS
            if is_full or self._queue.empty():  # nobody else takes from it
                return jobs, True
        return jobs, False

    def _written(self, jobs: list[Job]) -> list[Any]:
        """Write jobs in one transaction; where one spoils it, each in its own."""
        for _ in range(TRIES):
            try:
                return self._transaction(jobs)
            except Exception as error:  # noqa: BLE001 - whatever it is, the others must not suffer
                last = error
                if self.database is None or not self.database.is_transient(error):
                    break
        if self.database is None or len(jobs) == 1:
            return [last] * len(jobs)
        return [outcome for job in jobs for outcome in self._written([job])]

    def _transaction(self, jobs: list[Job]) -> list[Any]:
        database = self._connected()
        outcomes: dict[int, Any] = {}
        crash_points.reach("before_write")
        try:
            with database.transaction():
                kinds = {job.kind for job in jobs}
                for kind in [each for each in TOGETHER if each in kinds]:
                    these = [i for i, job in enumerate(jobs) if job.kind == kind]
                    found = TOGETHER[kind](database, [jobs[i].asked for i in these])
                    outcomes.update(zip(these, found, strict=True))
                crash_points.reach("before_commit")
        except Exception as error:
            self._lost(error)
            raise
        crash_points.reach("after_commit")
        return [outcomes[i] for i in range(len(jobs))]

    def _connected(self) -> Database:
        """Return the connection, a new one if the last one broke."""
        if self.database is None:
            try:
                self.database = self._connect()
            except Exception as error:
                raise Unavailable(f"the store cannot be reached: {error}") from error
            self.healthy = True
        return self.database

    def _lost(self, error: Exception) -> None:
        """Give up a connection that is broken, so that the next transaction opens another."""
        if self.database is None or not self.database.is_lost(error):
            return
        self.healthy, broken, self.database = False, self.database, None
        broken.close()
        raise Unavailable(f"the store cannot be reached: {error}") from error
