"""Ten long runs on one core and on two."""

from __future__ import annotations

import os
from functools import partial

from problems import yeast
from timing import Task, fastest, number, print_table

import fairx
from fairx import environments

RUNS = 10


def run_cores(rounds: int, passes: int) -> None:
    """Print how long ten runs of FairXTS take, and how much two cores help."""
    jobs = (1, 2)
    tasks = {str(count): Task(partial(play, jobs=count), rounds) for count in jobs}
    play(16, 1)
    one, two = (rounds * seconds for seconds in fastest(tasks, passes).values())
    rows = [
        ["jobs=1", number(one), ""],
        ["jobs=2", number(two), number(one / two)],
    ]
    title = f"Two cores: {RUNS} runs of {rounds:,} rounds, FairXTS, K=14 (of {len(os.sched_getaffinity(0))} cores)"
    print_table(title, ("", "seconds", "times as fast"), rows)


def play(rounds: int, jobs: int) -> None:
    merit, means = fairx.Exponential(yeast().steepness), yeast().means
    policy, world = fairx.FairXTS(merit, 1.0, 0.5), environments.Bernoulli(means)
    fairx.simulate(policy, world, merit, rounds=rounds, runs=RUNS, seed=1, jobs=jobs)
