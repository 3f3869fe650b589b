"""Plays runs in the simulator of numba-cuda, beside the processor: a process of its own, which prints JSON.

Its environment has `NUMBA_ENABLE_CUDASIM=1` and `NUMBA_DISABLE_JIT=1`.
"""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any

import numpy as np
from cases import CONVENTIONAL, ENVIRONMENTS, FAIR, MERITS, RIVALS, name

from fairx import FairXTS, FairXUCB, simulate
from fairx.environments import Bernoulli, Late, RandomWalk
from fairx.experiments import read
from fairx.experiments.gpu import gpu_player
from fairx.experiments.problems import dataset
from fairx.experiments.tasks import play, validation_tasks


def compared(policy: Any, world: Any, judge: Any, **options: Any) -> dict[str, Any]:
    """Return how far the two are apart."""
    settings: Any = {"rounds": 40, "runs": 3, "seed": 1, "checkpoints": 4} | options
    here: Any = simulate(policy, world, judge, **settings)
    there: Any = simulate(policy, world, judge, **settings, device="cuda")
    return {
        "name": f"{name(policy)} in {type(world).__name__}",
        "pulls": bool((here.pulls == there.pulls).all()),
        "apart": float(np.abs(here.fairness_regret - there.fairness_regret).max()),
        "curves": float(np.abs(here.exposure_curves - there.exposure_curves).max()),
        "same": here == there,
    }


def main() -> None:
    """Compare all policies, and some worlds."""
    still, linear = ENVIRONMENTS[0], ENVIRONMENTS[3]
    with np.errstate(all="ignore"):
        rows = [
            compared(policy, linear if "Lin" in name(policy) else still, MERITS[0])
            for policy in FAIR[:7] + CONVENTIONAL + RIVALS
        ]
        policy = FairXTS(MERITS[0], 1, 0.5)
        moving = RandomWalk([0.2, 0.5, 0.8], 0.05), Late(still, mean=5, kind="geometric", lost=0.2)
        rows += [compared(policy, world, MERITS[1]) for world in (ENVIRONMENTS[1], *moving)]
        rows.append(compared(policy, still, MERITS[0], runs=[7], measures={"first": first}))
        many = Bernoulli(np.linspace(0.1, 0.9, 33))  # a warp for each run
        rows.append(compared(FairXUCB(MERITS[0], 0.3, "gradient"), many, MERITS[0]))
        rows += played_tasks()
    json.dump(rows, sys.stdout)


def played_tasks() -> list[dict[str, Any]]:
    """Return how far the rows of an experiment are from those of the processor."""
    experiment = read("fig2", "smoke")[0]._replace(tuning_rounds=24, validation_runs=2)
    checksum = dataset(experiment.problem).checksum
    tasks = [
        task
        for entrant in experiment.policies
        for point in list(entrant.points())[:2]
        for task in validation_tasks(experiment, entrant, point, experiment.merits[0], checksum)
    ]
    told: list[int] = []
    rows = dict(itertools.chain.from_iterable(gpu_player()(tasks, told.append)))
    here = {task: play(task) for task in tasks}
    same = all(
        np.array_equal(rows[task][name], row[name]) for task, row in here.items() for name in row
    )
    right = set(rows) == set(tasks) and sum(told) == 24 * len(tasks)
    return [{"name": "tasks", "pulls": right, "apart": 0.0, "curves": 0.0, "same": same}]


def first(seen: Any) -> float:
    """Return the probability of the first arm."""
    return float(seen.deployed[0])


if __name__ == "__main__":
    main()
