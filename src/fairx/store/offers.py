"""How often each arm could be shown: in how many of the audited decisions it was on offer."""

from __future__ import annotations

import numpy as np

from fairx.store.database import Database
from fairx.store.snapshots import ACTIVE, Snapshot, arms_at
from fairx.types import Vector

# The audit is of the first decisions that matured, as many as there were when it was made.
ROWS = """
SELECT candidates, snapshot, count(*) FROM (
  SELECT d.candidates AS candidates,
    CASE WHEN d.candidates IS NULL THEN d.snapshot ELSE 0 END AS snapshot
  FROM matured m JOIN decisions d ON d.sequence = m.sequence WHERE m.experiment = ? {shown}
  ORDER BY m.number LIMIT ?
) AS audited GROUP BY candidates, snapshot
"""
SHOWN = "AND (m.rewards > 0 OR EXISTS (SELECT 1 FROM shown s WHERE s.decision = d.id))"


def offered(database: Database, snapshot: Snapshot, decisions: int) -> Vector:
    """Return in how many of the first decisions each arm was on offer, by the arm's place."""
    experiment = snapshot.experiment
    sql = ROWS.format(shown=SHOWN if experiment.settings.requires_shown else "")
    found, by_version = np.zeros(len(snapshot.arms)), {}
    for candidates, version, count in database.rows(sql, (experiment.id, decisions)):
        if candidates is None:
            by_version[version] = count
        else:
            found[np.frombuffer(candidates, "<i4")] += count
    if by_version:
        _add_unnamed(found, database, experiment.id, by_version)
    return found


def _add_unnamed(
    found: Vector, database: Database, experiment: int, by_version: dict[int, int]
) -> None:
    """Add decisions among all arms that were active, which change at few of the versions."""
    sql = "SELECT DISTINCT version FROM arms WHERE experiment = ? ORDER BY version"
    starts = [version for (version,) in database.rows(sql, (experiment,))]
    versions, counts = np.array(list(by_version)), np.array(list(by_version.values()))
    stretch = np.searchsorted(starts, versions, side="right") - 1
    for place, count in enumerate(np.bincount(stretch, counts, len(starts)).tolist()):
        if count:
            arms = arms_at(database, experiment, starts[place])
            found[[i for i, arm in enumerate(arms) if arm.status == ACTIVE]] += count
