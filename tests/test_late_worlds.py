"""Worlds that move, arms that sleep, rewards that come late: compiled as interpreted, whatever the jobs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases import contexts

from fairx import Exponential, FairXEG, FairXLinEG, environments, simulate
from fairx.simulation.measures import measures_of
from fairx.simulation.notions import NOTIONS
from fairx.simulation.one_run import OneRun
from fairx.simulation.runs import Watch

MERIT = Exponential(4)
POOLS = [[0, 1], [3, 1, 2]]
LINEAR = environments.Linear(contexts(), parameter=np.full(5, 0.4), noise_std=0.2)
CASES: list[Any] = [
    (FairXEG(MERIT, 0.05), environments.RandomWalk([0.2, 0.5, 0.6, 0.8], 0.05, every=3)),
    (FairXEG(MERIT, 0.05), environments.Sleeping(environments.Cycle(4, 30), POOLS, every=7)),
    (
        FairXLinEG(MERIT, 0.05, 1.0),
        environments.Late(environments.Sleeping(LINEAR, POOLS), 9, "geometric", lost=0.2),
    ),
]


@pytest.mark.parametrize(("policy", "world"), CASES, ids=["walk", "asleep", "late"])
def test_the_same_bytes_compiled_and_interpreted_and_by_two_at_a_time(
    policy: Any, world: Any
) -> None:
    settings: dict[str, Any] = {"rounds": 150, "runs": 3, "seed": 5}
    alone, both = (simulate(policy, world, MERIT, jobs=jobs, **settings) for jobs in (1, 2))
    run = OneRun((policy, world, MERIT, measures_of({})), 0, alone.rounds, 5, 2)
    run.play(run.loop.interpreted, Watch(150, lambda rounds: None))
    for curves in (alone, both):
        np.testing.assert_array_equal(curves.fairness_regret[2], run.tally.curves[0])
        np.testing.assert_array_equal(curves.reward_earned[2], run.tally.curves[3])
        np.testing.assert_array_equal(curves.exposure[2], run.tally.exposure / 150)


def test_notions_are_measured_alike_compiled_and_interpreted() -> None:
    records = FairXEG(MERIT, 0.05), environments.Cycle(4, 30), MERIT, measures_of(NOTIONS)
    curves = []
    for compiled in (True, False):
        run = OneRun(records, len(NOTIONS), np.array([150]), 5, 2)
        run.play(
            run.compile() if compiled else run.loop.interpreted, Watch(150, lambda rounds: None)
        )
        curves.append(run.tally.curves)
    np.testing.assert_array_equal(curves[0], curves[1])
