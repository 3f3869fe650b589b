"""Tasks on a GPU: all runs of all settings of a policy in one launch. The rows are the same, to nine digits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fairx.compiled.gpu import is_simulated
from fairx.policies.base import inner_form
from fairx.rules import InvalidValue
from fairx.simulation import Provenance
from fairx.simulation.measures import measures_of
from fairx.simulation.notions import NOTIONS
from fairx.simulation.on_gpu import play_on_gpu
from fairx.simulation.one_run import OneRun
from fairx.simulation.runs import gathered

from . import problems
from .execution import Player, played_together
from .parts import marks
from .specification import built
from .tasks import Row, Task, check_alike, row_of

TOGETHER = 4096  # tasks of a launch at most: what is interrupted is lost
AT_ONCE = 32  # kinds of policies that are played side by side


def gpu_player(directory: str | None = None) -> Player:
    """Play on the GPU of this machine, several kinds of policies at a time."""

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[tuple[Task, Row]]:
        def play(batch: list[Task], tell: Callable[[int], None]) -> list[tuple[Task, Row]]:
            check_alike(batch[0], directory)
            runs = [_run_of(task, directory) for task in batch]
            play_on_gpu(runs, tell)
            return [(t, row_of(t, _result(t, run))) for t, run in zip(batch, runs, strict=True)]

        # One kind is compiled while others are played, and runs that are few leave room for more.
        jobs = 1 if is_simulated() else AT_ONCE
        for _, rows in played_together(list(_batches(tasks)), play, progress, jobs):
            yield from rows

    return played


def _batches(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    """Return tasks that are played together: on one problem, of policies that differ in numbers alone."""
    groups: dict[Any, list[Task]] = {}
    for task in tasks:
        policy = json.loads(task.policy, parse_float=lambda _: 0.0, parse_int=lambda _: 0.0)
        kind = task.problem, task.part, task.rounds, policy, task.notions
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
