"""How often each arm could be shown: in how many of the audited decisions it was a candidate."""

from __future__ import annotations

import numpy as np

from fairx.types import Vector

from .archives.tallies import kept
from .arms import arms_at, candidates_of
from .audited import audited
from .compact import KnownPools
from .database import Database
from .snapshots import Snapshot

# The audit is of the first decisions that it counts, as many as there were when it was made.
ROWS = """
SELECT candidates, snapshot, count(*) FROM (
  SELECT d.candidates AS candidates,
    CASE WHEN d.candidates IS NULL THEN d.snapshot ELSE 0 END AS snapshot
  FROM matured m JOIN decisions d ON d.sequence = m.sequence WHERE m.experiment = ? AND {audited}
  ORDER BY m.number LIMIT ?
) AS audited GROUP BY candidates, snapshot
"""


def candidacies(database: Database, snapshot: Snapshot, decisions: int) -> Vector:
    """Return in how many of the first decisions each arm was a candidate, by the arm's number."""
    experiment = snapshot.experiment
    sql = ROWS.format(audited=audited(experiment.settings))
    found, by_version, pools = np.zeros(len(snapshot.arms)), {}, KnownPools(database)
    archived = kept(database, experiment.id)
    for arm, tally in archived.items():
        found[arm] = tally.candidacies
    left = max(0, decisions - sum(tally.audited for tally in archived.values()))
    for candidates, version, count in database.rows(sql, (experiment.id, left)):
        if candidates is None:
            by_version[version] = count
        else:
            found[np.frombuffer(pools.candidates(candidates) or b"", "<i4")] += count
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
    for start, count in zip(
        starts, np.bincount(stretch, counts, len(starts)).tolist(), strict=True
    ):
        if count:
            found[candidates_of(arms_at(database, experiment, start), None)] += count
