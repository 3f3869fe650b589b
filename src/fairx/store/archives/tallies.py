"""What was counted of archived decisions, arm by arm: kept in the store, so that counts go on."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from ..arms import ArmsThroughTime, candidates_of
from ..audited import audited
from ..compact import KnownPools
from ..database import Database, grouped
from ..snapshots import ServedExperiment
from .lines import OF_DECISIONS, RANGE, Span

NAMES = "decisions, weight, weighted, mature, rewarded, rewards, late, audited, candidacies"
COUNTED = f"""
SELECT d.arm, count(*), sum(COALESCE(d.weight, 1)), count(d.weight), count(*),
  sum(CASE WHEN m.rewards > 0 THEN 1 ELSE 0 END),
  sum((SELECT count(*) FROM rewards r WHERE r.decision = d.id AND r.late = 0)),
  sum((SELECT count(*) FROM rewards r WHERE r.decision = d.id AND r.late = 1)),
  sum(CASE WHEN {{audited}} THEN 1 ELSE 0 END)
{OF_DECISIONS} WHERE {RANGE} GROUP BY d.arm
"""
POOLS = f"""
SELECT d.candidates, d.snapshot, count(*) {OF_DECISIONS} WHERE {RANGE} AND {{audited}}
GROUP BY d.candidates, d.snapshot
"""
ADD = f"""
INSERT INTO archived_arms VALUES {{marks}} ON CONFLICT (experiment, arm) DO UPDATE SET
{", ".join(f"{name} = archived_arms.{name} + excluded.{name}" for name in NAMES.split(", "))}
"""


class Tally(NamedTuple):
    """What was counted of an arm."""

    decisions: int = 0
    weight: float = 0.0
    weighted: int = 0  # places of slates among them
    mature: int = 0
    rewarded: int = 0
    rewards: int = 0
    late: int = 0
    audited: int = 0  # of its decisions, those that an audit counts
    candidacies: int = 0  # decisions that an audit counts, in which it could be shown

    def plus(self, other: Tally) -> Tally:
        """Return both together."""
        sums: Any = (one + two for one, two in zip(self, other, strict=True))
        return Tally(*sums)


Tallies = dict[int, Tally]  # by the arm's number


def counted(database: Database, experiment: ServedExperiment, span: Span) -> Tallies:
    """Count decisions that are in the store."""
    found, condition = dict[int, Tally](), audited(experiment.settings)
    for chunk in span.chunks():
        for arm, count, weight, *rest in database.rows(COUNTED.format(audited=condition), chunk):
            new = Tally(count, float(weight), *(int(each) for each in rest))
            found[arm] = found.get(arm, Tally()).plus(new)
    for arm, count in _candidacies(database, experiment, span).items():
        found[arm] = found.get(arm, Tally())._replace(candidacies=count)
    return found


def _candidacies(database: Database, experiment: ServedExperiment, span: Span) -> Counter[int]:
    """Count in how many decisions each arm could be shown: each list of candidates is looked at once."""
    arms, pools = ArmsThroughTime(database, experiment.id), KnownPools(database)
    times: Counter[tuple[bytes | None, int]] = Counter()
    for chunk in span.chunks():
        sql = POOLS.format(audited=audited(experiment.settings))
        for named, version, count in database.rows(sql, chunk):
            times[named, 0 if named is not None else arms.start(version)] += count
    found: Counter[int] = Counter()
    for (named, start), count in times.items():
        known = () if named is not None else arms.at(start)
        for arm in candidates_of(known, pools.candidates(named)):
            found[arm] += count
    return found


def keep(database: Database, experiment: int, tallies: Tallies) -> None:
    """Add to what is kept."""
    for marks, values in grouped(
        [(experiment, arm, *each) for arm, each in sorted(tallies.items())]
    ):
        database.rows(ADD.format(marks=marks), values)


def kept(database: Database, experiment: int) -> Tallies:
    """Return what is kept of archived decisions."""
    sql = f"SELECT arm, {NAMES} FROM archived_arms WHERE experiment = ?"
    return {arm: Tally(*rest) for arm, *rest in database.rows(sql, (experiment,))}
