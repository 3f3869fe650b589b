"""One experiment made again from its log: its snapshots rebuilt, its decisions drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fairx.types import Vector

from .accounting import accounted
from .archives.record import last_cut
from .arms import ACTIVE, ArmsThroughTime
from .compact import KnownPools, is_same
from .database import Database
from .deciding import Decider
from .decisions import COLUMNS, Decision
from .folding import MATURE, Mature, learn_from, outcomes
from .identity import is_ours, slate_id
from .slates_again import grouped_by_slate, slate_again
from .snapshots import ServedExperiment, Snapshot, newest
from .statistics import empty, widened
from .verified import Verified

CHUNK = 1000
KEPT = "SELECT watermark FROM checkpoints WHERE experiment = ?"


class Remaking:
    """One experiment made again, from its first snapshot to its last."""

    def __init__(
        self,
        database: Database,
        experiment: ServedExperiment,
        secret: bytes | None,
        progress: Callable[[int], None],
    ) -> None:
        self.database, self.experiment, self.secret = database, experiment, secret
        self.progress, self.pools = progress, KnownPools(database)
        self.arms = ArmsThroughTime(database, experiment.id)
        self.problems: list[str] = []
        self.erased = self.decisions = 0
        self.unknown = False  # whether erased contexts leave the sums unknown, up to a checkpoint
        self.start = last_cut(database, experiment.id)  # what is before it is archived
        self.archived = self.start.upto

    def run(self) -> Verified:
        """Check everything."""
        snapshots, last = 0, None
        for last in self._snapshots():
            snapshots += 1
            self._decisions(last)
        self._end(last)
        matured = last.watermark - self.start.upto if last else 0
        counts = (snapshots, self.decisions, matured, self.erased)
        return Verified(1, *counts, tuple(self.problems), archived=self.archived)

    def _snapshots(self) -> Iterator[Snapshot]:
        """Rebuild each snapshot from the one before, and compare it with its digest."""
        key, settings = self.experiment.id, self.experiment.settings
        sql = "SELECT version, watermark, digest, time FROM snapshots WHERE experiment = ? ORDER BY version"
        (watermark, expected), sums = self.start, empty(settings, 0)
        if watermark:
            sums = self._checkpoint(sums, watermark)
        kept = {row[0] for row in self.database.rows(KEPT, (key,))}
        for version, upto, digest, time in self.database.rows(sql, (key,)):
            if version != expected:
                self._say(f"snapshot {expected} is missing")
            expected = version + 1
            arms = self.arms.at(version)
            sums = self._folded(widened(settings, sums, len(arms)), watermark, upto)
            watermark = upto
            snapshot = Snapshot(self.experiment, version, upto, time, arms, sums)
            if not self.unknown and snapshot.digest() != digest:
                self._say(f"snapshot {version} differs from what the log gives")
            elif not self.unknown and upto in kept and not self._is_kept(snapshot):
                self._say(f"the sums kept after {upto} decisions differ from what the log gives")
            yield snapshot

    def _folded(self, sums: Vector, start: int, stop: int) -> Vector:
        """Fold the decisions that matured between two snapshots."""
        columns = ", ".join(f"d.{name}" for name in MATURE.split(", "))
        sql = (
            f"SELECT {columns}, m.number, m.reward, m.rewards FROM matured m LEFT JOIN decisions d ON d.sequence = m.sequence "
            "WHERE m.experiment = ? AND m.number > ? AND m.number <= ? ORDER BY m.number"
        )
        rows = self.database.rows(sql, (self.experiment.id, start, stop))
        if [row[-3] for row in rows] != list(range(start + 1, stop + 1)):
            self._say(f"matured decisions {start + 1} to {stop} are not all there")
        rows = [
            row
            for row in rows
            if row[0] is not None or self._say(f"matured {row[-3]} has no decision")
        ]
        mature, learned = [Mature(*row[:-3]) for row in rows], [row[-2] for row in rows]
        self._outcomes(mature, rows)
        if self.experiment.settings.dimension and any(
            each.erased is not None and reward is not None
            for each, reward in zip(mature, learned, strict=True)
        ):
            self.unknown = True
        if self.unknown:
            return self._checkpoint(sums, stop)
        learn_from(self.database, self.experiment, sums, mature, learned)
        return sums

    def _is_kept(self, snapshot: Snapshot) -> bool:
        """Tell whether the sums of a checkpoint are those of a snapshot; arms may have come since."""
        settings, found = (
            self.experiment.settings,
            self._checkpoint(snapshot.sums, snapshot.watermark),
        )
        return np.array_equal(widened(settings, found, len(snapshot.arms)), snapshot.sums)

    def _checkpoint(self, sums: Vector, watermark: int) -> Vector:
        """Go on from sums that were kept when contexts were erased, as soon as there are some."""
        sql = "SELECT body FROM checkpoints WHERE experiment = ? AND watermark = ?"
        rows = self.database.rows(sql, (self.experiment.id, watermark))
        self.unknown = not rows
        return np.frombuffer(rows[0][0]).copy() if rows else sums

    def _outcomes(self, mature: list[Mature], rows: list[Any]) -> None:
        """Check that each decision was learned as what its rewards say."""
        for start in range(0, len(mature), CHUNK):
            part = mature[start : start + CHUNK]
            found = outcomes(self.database, self.experiment, part)
            for each, row, (reward, count) in zip(part, rows[start:], found, strict=False):
                if each.erased is None and row[-2:] != (reward, count):
                    self._say(f"decision {each.id} was learned as {row[-2]}, not as {reward}")

    def _decisions(self, snapshot: Snapshot) -> None:
        """Make the decisions of a snapshot again."""
        sql = f"SELECT {COLUMNS}, erased FROM decisions WHERE experiment = ? AND snapshot = ? ORDER BY sequence"
        rows = self.database.rows(sql, (self.experiment.id, snapshot.version))
        if not rows:
            return
        self.decisions += len(rows)
        if self.unknown:
            self.erased += len(rows)
            return
        decider = Decider(snapshot)
        for made, erased in grouped_by_slate(rows):
            try:
                problem = self._again(decider, made, erased)
            except (ValueError, IndexError) as error:
                problem = f"it cannot be made again: {error}"
            if problem:
                self._say(f"decision {slate_id(made[0].id)}: {problem}")
        self.progress(len(rows))

    def _again(self, decider: Decider, made: list[Decision], erased: bool) -> str:
        """Say what is wrong with a decision, or with a slate by its places."""
        first, dimension = made[0], self.experiment.settings.dimension
        name = slate_id(first.id)
        if self.secret is not None and not is_ours(self.secret, self.experiment.id, name):
            return "its signature is not ours"
        if erased and dimension:
            self.erased += len(made)
            return ""
        named = self.pools.candidates(first.candidates)
        candidates = decider.candidates_again(named, first.contexts)
        if any(decider.snapshot.arms[number].status != ACTIVE for number in candidates.arms):
            return "an arm was on offer that was not active"
        if first.place is not None:
            return slate_again(decider, candidates, made)
        drawn, found = decider.decide(first.id, candidates)
        if not is_same(found.tobytes(), first.probabilities):
            return "its probabilities differ from what the snapshot gives"
        if drawn != first.position or candidates.arms[first.position] != first.arm:
            return f"its arm is {first.arm}, but the snapshot gives {candidates.arms[drawn]}"
        if first.propensity not in (None, found[drawn]):
            return "its propensity differs from what the snapshot gives"
        return ""

    def _end(self, last: Snapshot | None) -> None:
        """Check that the statistics are those of the last snapshot, and no decision is lost."""
        now = self._newest()
        if last is not None and now is not None:
            if (now.version, now.watermark) != (last.version, last.watermark):
                self._say("the statistics are not those of the last snapshot")
            elif now.digest() != last.digest():
                self._say("the statistics differ from the fold of the log")
        account = accounted(self.database, self.experiment.id, self.start)
        self.archived += account.older
        for problem in account.problems(self.decisions):
            self._say(problem)

    def _newest(self) -> Snapshot | None:
        try:
            return newest(self.database, self.experiment)
        except ValueError:
            self._say("the statistics or their snapshot are not there")
            return None

    def _say(self, problem: str) -> bool:
        self.problems.append(f"{self.experiment.name}: {problem}")
        return False
