"""Deciders of earlier snapshots, made again from the log: what is on record as a digest, told again."""

from __future__ import annotations

import numpy as np

from fairx.errors import BrokenFile
from fairx.slates.places import place_weights
from fairx.types import Vector

from .archives.record import last_cut
from .arms import ArmsThroughTime
from .compact import KnownPools, is_digest, is_same
from .database import Database
from .deciding import Decider
from .decisions import Decision
from .errors import Conflict
from .folding import MATURE, Mature, learn_from
from .identity import LETTERS, slate_id
from .snapshots import ServedExperiment, Snapshot
from .statistics import empty, widened

KEPT = 4  # deciders: processes decide by snapshots that are not far from each other
NAMED = "SELECT watermark, time FROM snapshots WHERE experiment = ? AND version = ?"
LAST = """
SELECT watermark, body FROM checkpoints WHERE experiment = ? AND watermark <= ?
ORDER BY watermark DESC LIMIT 1
"""
LEARNED = f"""
SELECT {", ".join(f"d.{name}" for name in MATURE.split(", "))}, m.reward
FROM matured m JOIN decisions d ON d.sequence = m.sequence
WHERE m.experiment = ? AND m.number > ? AND m.number <= ? ORDER BY m.number
"""
WEIGHTS = f"""
SELECT weight FROM decisions
WHERE experiment = ? AND snapshot = ? AND substr(id, 1, {LETTERS}) = ? ORDER BY place
"""


class Earlier:
    """Deciders of one experiment without contexts, by the versions of their snapshots."""

    def __init__(self, database: Database, experiment: ServedExperiment) -> None:
        self._database, self._experiment = database, experiment
        self.pools, self.arms = KnownPools(database), ArmsThroughTime(database, experiment.id)
        self._deciders: dict[int, Decider] = {}
        self._watermark, self._sums = 0, empty(experiment.settings, 0)
        self._last = ("", np.empty(0))

    def chances(self, made: Decision) -> Vector:
        """Return the probabilities of a decision, or of a slate the exposures, as they were."""
        if not is_digest(made.probabilities):
            return np.frombuffer(made.probabilities)
        name = slate_id(made.id)
        if name != self._last[0]:  # the places of a slate follow each other
            self._last = (name, self._made_again(made))
        return self._last[1]

    def _made_again(self, made: Decision) -> Vector:
        name, decider = slate_id(made.id), self._decider(made.snapshot)
        candidates = decider.candidates_again(self.pools.candidates(made.candidates), None)
        if made.place is None:
            found = decider.decide(name, candidates)[1]
        else:
            weights = place_weights(self._weights(made))
            found = decider.decide_slate(name, candidates, weights).exposures
        if not is_same(found.tobytes(), made.probabilities):
            raise BrokenFile(f"decision {name} does not follow from the log: see fairx verify")
        return found

    def _weights(self, made: Decision) -> list[float]:
        """Return the weights of the places of a slate."""
        name = slate_id(made.id)
        values = (made.experiment, made.snapshot, name)
        return [weight for (weight,) in self._database.rows(WEIGHTS, values)]

    def _decider(self, version: int) -> Decider:
        if version not in self._deciders:
            while len(self._deciders) >= KEPT:
                del self._deciders[next(iter(self._deciders))]
            self._deciders[version] = Decider(self.snapshot(version))
        return self._deciders[version]

    def snapshot(self, version: int) -> Snapshot:
        """Return a snapshot as it was."""
        experiment, arms = self._experiment, self.arms.at(version)
        for watermark, time in self._database.rows(NAMED, (experiment.id, version)):
            sums = self.folded(watermark, len(arms))
            return Snapshot(experiment, version, watermark, time, arms, sums.copy())
        if version < last_cut(self._database, experiment.id).version:
            raise Conflict(
                f"snapshot {version} is archived, and what was decided by it cannot be told again "
                "without the archive: export the log"
            )
        raise BrokenFile(f"snapshot {version} is not on record")

    def folded(self, watermark: int, arms: int) -> Vector:
        """Return the sums at a watermark: from the last ones or a checkpoint, whichever is nearer."""
        key, settings = self._experiment.id, self._experiment.settings
        if self._watermark > watermark:
            self._watermark, self._sums = 0, empty(settings, 0)
        for at, body in self._database.rows(LAST, (key, watermark)):
            if at > self._watermark:
                self._watermark, self._sums = at, np.frombuffer(body)
        self._sums = widened(settings, self._sums, arms).copy()
        rows = self._database.rows(LEARNED, (key, self._watermark, watermark))
        mature, rewards = [Mature(*row[:-1]) for row in rows], [row[-1] for row in rows]
        learn_from(self._database, self._experiment, self._sums, mature, rewards)
        self._watermark = watermark
        return self._sums
