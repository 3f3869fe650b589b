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
from fairx.simulation.on_gpu import played_on_gpu
from fairx.simulation.one_run import OneRun
from fairx.simulation.runs import gathered

from . import problems
from .execution import Player
from .parts import marks
from .specification import Experiment, built
from .tasks import Row, Task, check_alike, row_of


def gpu_player(directory: str | None = None) -> Player:
    """Play on the GPU of this machine, kinds of policies side by side; what is interrupted is lost."""

    def played(
        tasks: Sequence[Task], progress: Callable[[int], None]
    ) -> Iterator[Sequence[tuple[Task, Row]]]:
        runs, owners = list[OneRun](), dict[int, Task]()
        _join(runs, owners, tasks, directory)
        for done in played_on_gpu(runs, progress):
            found = [(owners[id(run)], run) for run in done]
            yield [(task, row_of(task, _result(task, run))) for task, run in found]
            _join(runs, owners, tasks, directory)  # those that were added while the rows were kept

    return played


def check_for_gpu(experiment: Experiment, directory: str | None = None) -> None:
    """Refuse, by its name, an experiment that a GPU cannot play."""
    part = problems.part(experiment.problem, "test", experiment.seed, directory)
    _check_part(part, experiment.name)


def _check_part(part: Any, name: str) -> None:
    if not hasattr(part, "environment"):
        why = "a log is replayed"
    elif part.places is not None:
        why = "pages with places are played"
    else:
        return
    raise InvalidValue("--device cuda", f"be left out for {name}: {why} on a processor")


def _join(
    runs: list[OneRun], owners: dict[int, Task], tasks: Sequence[Task], directory: str | None
) -> None:
    """Let the runs of tasks that have none yet join the others."""
    new = tasks[len(runs) :]
    for task in {(task.problem, task.merit, task.policy): task for task in new}.values():
        check_alike(task, directory)
    joining = [_run_of(task, directory) for task in new]
    owners.update((id(run), task) for run, task in zip(joining, new, strict=True))
    runs += joining


def _run_of(task: Task, directory: str | None) -> OneRun:
    """Return the run of a task."""
    part: Any = problems.part(task.problem, task.part, task.experiment_seed, directory)
    _check_part(part, task.problem.data)
    policy, merit = built(json.loads(task.policy)), built(json.loads(task.merit))
    measures: Any = NOTIONS if task.notions else {}
    records = inner_form(policy), part.environment, merit, measures_of(measures)
    return OneRun(records, len(measures), marks(task.rounds), task.seed, task.run, part.places)


def _result(task: Task, run: OneRun) -> Any:
    """Return the result of one run."""
    origin = Provenance("", "", "", task.seed, task.rounds, task.version)
    return gathered([run], run.marks, NOTIONS if task.notions else (), origin)
