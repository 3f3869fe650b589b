"""One policy of an experiment under one merit: the runs that tune it, what they choose, and its tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.merit import Merit
from fairx.simulation import Provenance, Result
from fairx.simulation.bands import standard_deviation
from fairx.types import Vector

from .notions import measured_by_name, unfairness
from .outcome import Tried
from .rows import Rows
from .specification import Entrant, Experiment
from .tasks import Row, Task, test_tasks, validation_tasks


class Entered(NamedTuple):
    """An entrant of an experiment under one merit: it is tuned and tested for itself."""

    experiment: Experiment
    entrant: Entrant
    merit: Merit
    checksum: str  # of the data

    def points(self) -> list[dict[str, Any]]:
        """Return the points of its grid."""
        return list(self.entrant.points())

    def tuning(self) -> list[Task]:
        """Return the runs that tune it: none where there is nothing to choose."""
        points = self.points()
        return [task for point in points for task in self._tried(point)] if len(points) > 1 else []

    def _tried(self, point: Any) -> list[Task]:
        return validation_tasks(self.experiment, self.entrant, point, self.merit, self.checksum)

    def chosen(self, rows: Rows) -> tuple[dict[str, Any], tuple[Tried, ...]]:
        """Return the point that is best by the notion that tunes the policy, the first on ties."""
        points = self.points()
        if len(points) == 1:
            return points[0], ()
        tried = []
        for point in points:
            finals = _finals(self.entrant.tuned_by, [rows[task.key] for task in self._tried(point)])
            tried.append(Tried(point, float(finals.mean()), float(standard_deviation(finals))))
        best = min(range(len(points)), key=lambda i: tried[i].mean)
        return points[best], tuple(tried)

    def tests(self, rows: Rows) -> list[Task]:
        """Return its tests, where the runs that tune it are there."""
        return self.tests_of(self.chosen(rows)[0])

    def tests_of(self, point: Any) -> list[Task]:
        """Return the tests of one point."""
        return test_tasks(self.experiment, self.entrant, point, self.merit, self.checksum)


def entered(experiment: Experiment, checksum: str) -> Iterator[Entered]:
    """Yield all entrants of an experiment, merit by merit."""
    for merit in experiment.merits:
        for entrant in experiment.policies:
            yield Entered(experiment, entrant, merit, checksum)


def _finals(notion: str, found: Sequence[Row]) -> Vector:
    """Return the final fairness regrets, or how unfair runs were a round by another notion."""
    result = result_of(found)
    return result.fairness_regret[:, -1] if notion == "merit" else unfairness(notion, result)


def result_of(found: Sequence[Row]) -> Result:
    """Return the rows of some runs as one result."""
    marks = np.array(found[0]["checkpoints"])

    def column(name: str) -> Any:  # rows of before 0.2 lack some: what is not known is not a number
        unknown = np.full(marks.size, np.nan)
        return np.array([row[name] if len(row[name]) else unknown for row in found])

    return Result(
        rounds=marks,
        fairness_regret=column("fairness_regret"),
        reward_regret=column("reward_regret"),
        exposure=column("exposure"),
        pulls=column("pulls"),
        best_arm_regret=column("best_arm_regret"),
        reward_earned=column("reward_earned"),
        exposure_curves=None,  # a sweep of thousands of runs fits into memory
        measures=measured_by_name(column("measured"), marks.size),
        runs=np.array([row["run"] for row in found]),
        provenance=_provenance(found[0]),
    )


def _provenance(row: Row) -> Provenance:
    settings = json.loads(row["settings"])
    problem = json.dumps([settings["problem"], row["part"], row["checksum"]], sort_keys=True)
    judge, code = row["merit"], settings.get("code", "")
    policy = f"{row['policy']} #{code}" if code else row["policy"]
    return Provenance(policy, problem, judge, row["seed"], row["rounds"], row["version"])
