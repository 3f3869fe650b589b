"""`fairx archive`: lines are written to files, checked, and taken out of the store in one transaction.

Whenever it is cut off, each line is in the store, or in a file that the store names; never in neither. What
it did is done, and the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fairx.errors import BrokenFile

from .. import crash_points
from ..database import Database, add
from ..earlier import Earlier
from ..experiments import lock_experiment, note
from ..folding import fold, keep_sums
from ..sealing import ALL, sealed
from ..seals import seal_key
from ..snapshots import ServedExperiment, experiments
from . import tallies
from .cutting import next_cut
from .files import Adder
from .filing import Changed, Filing
from .lines import DECISIONS, OF_DECISIONS, RANGE, Span, lock, remove, stored
from .record import Cut, Part, hold_names, last_cut, say_folder, sum_of

ACTOR = "fairx archive"
TRIES = 5  # with PostgreSQL, a late reward may come between
IDS = f"""
INSERT INTO archived SELECT d.id, d.experiment {OF_DECISIONS} WHERE {RANGE} AND COALESCE(d.place, 1) = 1
"""
SNAPSHOT = "SELECT digest FROM snapshots WHERE experiment = ? AND version = ?"
KEPT = "SELECT max(watermark) FROM checkpoints WHERE experiment = ? AND watermark <= ?"
ERASED = f"SELECT 1 {OF_DECISIONS} WHERE {RANGE} AND d.erased IS NOT NULL LIMIT 1"
OLD_ACTIONS = "SELECT max(id) FROM actions WHERE time < ? AND id < (SELECT max(id) FROM actions)"
ACTIONS = (
    "SELECT id, time, actor, action, experiment, detail FROM actions WHERE id <= ? ORDER BY id"
)
REMOVED = "DELETE FROM actions WHERE id <= ? RETURNING id"


class Moved(NamedTuple):
    """What was archived."""

    decisions: int = 0  # of slates, places
    actions: int = 0
    files: int = 0
    unnamed: int = 0  # files that the store does not name, moved aside

    def plus(self, other: Moved) -> Moved:
        """Return both together."""
        return Moved(*(one + two for one, two in zip(self, other, strict=True)))


class Archivist:
    """Archives what is old of a store, which has seals."""

    def __init__(self, database: Database, secret: bytes, folder: Path, now: float) -> None:
        self.database, self.now, self.key = database, now, seal_key(secret)
        self.filing = Filing(database, folder, self.key, now)

    def run(self, before: float, progress: Callable[[int], None] = lambda count: None) -> Moved:
        """Archive what was mature before a time, of all experiments, and actions of before it."""
        with self.database.transaction():  # so that erasing knows, whatever is left there
            say_folder(self.database, self.filing.folder)
        found = Moved(unnamed=self.filing.move_unnamed(self.database))
        self._fold_deleted()
        for experiment in experiments(self.database, "1 = 1"):
            while cut := next_cut(self.database, experiment.id, before):
                moved = _tried(partial(self._move, experiment, cut))
                progress(moved.decisions)
                found = found.plus(moved)
        return found.plus(_tried(partial(self._move_actions, before)))

    def _fold_deleted(self) -> None:
        """Fold what waited when its experiment was deleted: no service does, and it would stay for ever."""
        for experiment in experiments(self.database, "status = 'deleted'"):
            more = True
            while more:
                with self.database.transaction():
                    more = fold(self.database, experiment, self.now) is not None

    def _move(self, experiment: ServedExperiment, cut: Cut) -> Moved:
        span = Span(experiment.id, last_cut(self.database, experiment.id).upto, cut)
        if span.after >= cut.upto:
            return Moved()  # another was faster
        made: list[Part] = []
        try:
            for kind in DECISIONS:
                lines = stored(self.database, kind, span)
                made.append(self.filing.write(kind, span.experiment, cut, lines))
            crash_points.reach("archive_written")
            with self.database.transaction():
                lock_experiment(self.database, experiment)
                lock(self.database, span)
                self._compare(span, made)
                self._keep(experiment, span)
                self._name(made, experiment.name)
                crash_points.reach("archive_named")
                remove(self.database, span)
                crash_points.reach("archive_removed")
        except Changed:
            self.filing.forget(made)
            raise
        crash_points.reach("archive_committed")
        return Moved(decisions=cut.upto - span.after, files=len(made))

    def _move_actions(self, before: float) -> Moved:
        ((last,),) = self.database.rows(OLD_ACTIONS, (before,))
        if last is None:
            return Moved()
        rows = self.database.rows(ACTIONS, (last,))
        made = [self.filing.write("actions", ALL, Cut(last), [rows])]
        try:
            with self.database.transaction():
                if self.database.rows(ACTIONS, (last,)) != rows:
                    raise Changed
                self._name(made, None)
                if len(self.database.rows(REMOVED, (last,))) != len(rows):
                    raise Changed  # one that was numbered before came just now
        except Changed:
            self.filing.forget(made)
            raise
        return Moved(actions=len(rows), files=1)

    def _compare(self, span: Span, made: list[Part]) -> None:
        """Check that the files have what is in the store, now that nobody else can change it."""
        for part in made:
            total = Adder(part.kind, self.key, span.experiment)
            for rows in stored(self.database, part.kind, span):
                total.add(rows)
            if total.found != sum_of(part, self.key):
                raise Changed

    def _keep(self, experiment: ServedExperiment, span: Span) -> None:
        """Keep what must outlive the lines: sums at the cut, ids, and counts."""
        if self._can_fold(experiment, span):
            self._keep_sums(experiment, span.cut)
        for chunk in span.chunks():
            self.database.rows(IDS, chunk)
        tallies.keep(self.database, experiment.id, tallies.counted(self.database, experiment, span))

    def _can_fold(self, experiment: ServedExperiment, span: Span) -> bool:
        """Tell whether the sums at the cut follow from the log: erased contexts are gone for ever."""
        if not experiment.settings.dimension:
            return True
        ((kept,),) = self.database.rows(KEPT, (experiment.id, span.cut.upto))
        if kept is None and span.after:
            return False
        return not self.database.rows(ERASED, (experiment.id, kept or 0, span.cut.upto))

    def _keep_sums(self, experiment: ServedExperiment, cut: Cut) -> None:
        """Keep the sums at the cut: what was decided after it is told again from them."""
        ((digest,),) = self.database.rows(SNAPSHOT, (experiment.id, cut.version))
        earlier = Earlier(self.database, experiment)
        sums = earlier.folded(cut.upto, len(earlier.arms.at(cut.version))).copy()
        snapshot = earlier.snapshot(cut.version)  # which goes on from these
        if snapshot.digest() != digest:
            raise BrokenFile(
                f"{experiment.name}: snapshot {cut.version} differs from what the log gives, and "
                "nothing of it is archived: see fairx verify"
            )
        keep_sums(self.database, snapshot._replace(watermark=cut.upto, sums=sums))

    def _name(self, made: list[Part], name: str | None) -> None:
        """Have the store name the files, and say where they are."""
        hold_names(self.database)
        if not self.filing.has(made):
            raise Changed  # another run, that began meanwhile, took them for ones left behind
        add(self.database, "archives", made)
        for part in made:
            sealed(self.database, "archives", part.experiment, [part])
        say_folder(self.database, self.filing.folder)
        detail = {"upto": made[0].upto, "lines": {part.kind: part.lines for part in made}}
        note(self.database, self.now, ACTOR, "archive", name, detail)


def _tried(move: Callable[[], Moved]) -> Moved:
    for _ in range(TRIES):
        try:
            return move()
        except Changed:
            continue
    raise BrokenFile("what is to be archived changes all the time: try again later")
