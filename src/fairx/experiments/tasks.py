"""The unit of work: one run of one policy, a function of its settings alone."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fairx.merit import Merit
from fairx.version import __version__

from . import problems
from .notions import is_measured
from .problem import Problem
from .sources import own_modules
from .specification import Entrant, Experiment, built, described

Row = dict[str, Any]
# Added to the experiment's seed: tests must not have the numbers that settings were tuned with.
STEPS = {"validation": 0, "test": 1}
SAME = ("the version of fairx", "the code of the policy", "the checksum of the data")


class Task(NamedTuple):
    """One run: everything that its row depends on."""

    problem: Problem
    part: str  # "validation" or "test"
    checksum: str  # of the data
    merit: str  # as JSON, like the policy: a task is hashable and travels
    policy: str
    rounds: int
    seed: int  # of the runs
    run: int
    version: str  # of fairx
    code: str  # digest of the modules of others that the merit and the policy are from
    notions: str = ""  # "measured" where the loop measures notions of fairness beside regrets

    def settings(self) -> str:
        """Return all of it as one text."""
        plain = self._asdict() | {
            "problem": self.problem.described(),
            "merit": json.loads(self.merit),
            "policy": json.loads(self.policy),
        }
        return json.dumps(
            {name: value for name, value in plain.items() if value != ""}, sort_keys=True
        )

    @property
    def experiment_seed(self) -> int:
        """The seed of the experiment, which splits the data and draws the features."""
        return self.seed - STEPS[self.part]

    @property
    def key(self) -> str:
        """A name that no other task has."""
        return key_of(self.settings())


def key_of(settings: str) -> str:
    """Return the key of the row with these settings."""
    return hashlib.sha256(settings.encode()).hexdigest()[:24]


def validation_tasks(
    experiment: Experiment, entrant: Entrant, point: Any, merit: Merit, checksum: str
) -> list[Task]:
    """Return the runs that judge one point of a grid."""
    one = _task(experiment, entrant, point, merit, checksum, "validation")
    one = one._replace(rounds=experiment.tuning_rounds)
    return [one._replace(run=run) for run in range(experiment.validation_runs)]


def test_tasks(
    experiment: Experiment, entrant: Entrant, point: Any, merit: Merit, checksum: str
) -> list[Task]:
    """Return the runs that are shown, horizon by horizon.

    A short horizon is the beginning of a longer one: run i is the same run.
    """
    one = _task(experiment, entrant, point, merit, checksum, "test")
    return [
        one._replace(rounds=rounds, run=run)
        for rounds in experiment.rounds
        for run in range(experiment.runs)
    ]


def _task(
    experiment: Experiment, entrant: Entrant, point: Any, merit: Merit, checksum: str, part: str
) -> Task:
    judge, policy = json.dumps(described(merit)), canonical(entrant.described(point, merit))
    return Task(
        problem=experiment.problem,
        part=part,
        checksum=checksum,
        merit=judge,
        policy=policy,
        rounds=experiment.rounds[-1],
        seed=experiment.seed + STEPS[part],
        run=0,
        version=__version__,
        code=code_of(judge + policy),
        notions="measured" if is_measured(experiment.notions) else "",
    )


def canonical(policy: dict[str, Any]) -> str:
    """Return a policy as JSON, with every setting named and of its declared type if it is ours."""
    return json.dumps(policy if ":" in policy["kind"] else described(built(policy)))


def code_of(text: str) -> str:
    """Return a digest of the modules named in a text, "" if all are ours: an edit is another task.

    Modules of the user's that these import count too.
    """
    modules = sorted(set(re.findall(r'"kind": "([\w.]+):', text)))
    sources = [inspect.getsource(module) for module in own_modules(modules)]
    return hashlib.sha256("".join(sources).encode()).hexdigest()[:12] if sources else ""


def play(
    task: Task, directory: str | None = None, progress: Callable[[int], None] | None = None
) -> Row:
    """Play one run and return its row."""
    policy, merit = built(json.loads(task.policy)), built(json.loads(task.merit))
    here = (
        __version__,
        code_of(task.merit + task.policy),
        problems.dataset(task.problem, directory).checksum,
    )
    for what, wanted, found in zip(
        SAME, (task.version, task.code, task.checksum), here, strict=True
    ):
        if found != wanted:
            raise ValueError(
                f"{what} must be {wanted} here too, not {found}: make all machines alike"
            )
    part = problems.part(task.problem, task.part, task.experiment_seed, directory)
    result = part.result(
        policy, merit, task.rounds,
        seed=task.seed, runs=[task.run], jobs=1, progress=progress or (lambda rounds: None),
        notions=bool(task.notions),
    )  # fmt: skip
    return {
        "key": task.key,
        "settings": task.settings(),
        "data": task.problem.data,
        "part": task.part,
        "policy": task.policy,
        "merit": task.merit,
        "rounds": task.rounds,
        "seed": task.seed,
        "run": task.run,
        "version": task.version,
        "checksum": task.checksum,
        "checkpoints": result.rounds,
        "fairness_regret": result.fairness_regret[0],
        "reward_regret": result.reward_regret[0],
        "exposure": result.exposure[0],
        "pulls": result.pulls[0],
        "best_arm_regret": result.best_arm_regret[0],
        "reward_earned": result.reward_earned[0],
        "measured": np.ravel([curves[0] for curves in result.measures.values()]),
    }
