"""Ten long runs on one core and on two."""

from __future__ import annotations

import os
import time

from problems import yeast
from timing import number, print_table

import fairx
from fairx import environments

RUNS = 10


def run_cores(rounds: int, passes: int) -> None:
    """Print how long ten runs of FairXTS take, and how much two cores help.

    Where other processes are at work, two jobs do not get two cores: the last column tells.
    """
    play(16, 1)  # compiles, or loads from the disk cache
    tries = [(play(rounds, 1), play(rounds, 2)) for _ in range(passes)]
    one, two = (min(column) for column in zip(*tries, strict=True))
    rows = [
        ["jobs=1", number(one[0]), "", number(one[1])],
        ["jobs=2", number(two[0]), number(one[0] / two[0]), number(two[1])],
    ]
    cores = len(os.sched_getaffinity(0))
    title = f"{RUNS} runs of {rounds:,} rounds, FairXTS, K=14, on a machine of {cores} cores"
    print_table(title, ("", "seconds", "times as fast", "cores it got"), rows)


def play(rounds: int, jobs: int) -> tuple[float, float]:
    """Return the seconds that passed, and on how many cores we were meanwhile."""
    merit, means = fairx.Exponential(yeast().steepness), yeast().means
    policy, world = fairx.FairXTS(merit, 1.0, 0.5), environments.Bernoulli(means)
    start, used = time.perf_counter(), time.process_time()
    fairx.simulate(policy, world, merit, rounds=rounds, runs=RUNS, seed=1, jobs=jobs)
    seconds = time.perf_counter() - start
    return seconds, (time.process_time() - used) / seconds
