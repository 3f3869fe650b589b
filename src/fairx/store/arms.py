"""The arms of an experiment as they come and go: read once for each stretch without a change."""

from __future__ import annotations

from bisect import bisect_right

from .database import Database
from .snapshots import Arm, arms_at

STARTS = "SELECT DISTINCT version FROM arms WHERE experiment = ? ORDER BY version"


class ArmsThroughTime:
    """The arms of an experiment at any of its versions."""

    KEPT = 4  # stretches

    def __init__(self, database: Database, experiment: int) -> None:
        self._database, self._experiment = database, experiment
        self._starts = [version for (version,) in database.rows(STARTS, (experiment,))]
        self._known: dict[int, tuple[Arm, ...]] = {}

    def start(self, version: int) -> int:
        """Return the version at which the arms became what they are at another one."""
        found = bisect_right(self._starts, version)
        return self._starts[found - 1] if found else 0

    def at(self, version: int) -> tuple[Arm, ...]:
        """Return the arms as of a version."""
        start = self.start(version)
        if start not in self._known:
            while len(self._known) >= self.KEPT:
                del self._known[next(iter(self._known))]
            self._known[start] = arms_at(self._database, self._experiment, start)
        return self._known[start]
