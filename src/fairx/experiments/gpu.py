"""Tasks on a GPU: all runs of all settings of a policy in one launch. The rows are the same, to nine digits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fairx.policies.base import inner_form
from fairx.rules import InvalidValue
from fairx.simulation import Provenance
from fairx.simulation.measures import measures_of
from fairx.simulation.notions import NOTIONS
from fairx.simulation.on_gpu import play_on_gpu
from fairx.simulation.one_run import OneRun
from fairx.simulation.runs import gathered

from . import problems
from .execution import Player
from .parts import marks
from .specification import built
from .tasks import Row, Task, check_alike, row_of

TOGETHER = 4096  # tasks of a launch at most: what is interrupted is lost


def gpu_player(directory: str | None = None) -> Player:
    """Play on the GPU of this machine, one kind of policy after the other."""

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[tuple[Task, Row]]:
        for batch in _batches(tasks):
            check_alike(batch[0], directory)
            runs = [_run_of(task, directory) for task in batch]
            play_on_gpu(runs, progress)
            for task, run in zip(batch, runs, strict=True):
                yield task, row_of(task, _result(task, run))

    return played


def _batches(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Return tasks that are played together: on one problem, of one kind of policy."""
    groups: dict[Any, list[Task]] = {}
    for task in tasks:
        kind = task.problem, task.part, task.rounds, json.loads(task.policy)["kind"], task.notions
        groups.setdefault(str(kind), []).append(task)
    for group in groups.values():
        for first in range(0, len(group), TOGETHER):
            yield group[first : first + TOGETHER]


def _run_of(task: Task, directory: str | None) -> OneRun:
    """Return the run of a task."""
    part: Any = problems.part(task.problem, task.part, task.experiment_seed, directory)
    if not hasattr(part, "environment"):
        rule = f"be left out for {task.problem.data}: a log is replayed on a processor"
        raise InvalidValue("--device cuda", rule)
    policy, merit = built(json.loads(task.policy)), built(json.loads(task.merit))
    measures: Any = NOTIONS if task.notions else {}
    records = inner_form(policy), part.environment, merit, measures_of(measures)
    return OneRun(records, len(measures), marks(task.rounds), task.seed, task.run, part.places)


def _result(task: Task, run: OneRun) -> Any:
    """Return the result of one run."""
    origin = Provenance("", "", "", task.seed, task.rounds, task.version)
    return gathered([run], run.marks, NOTIONS if task.notions else (), origin)
