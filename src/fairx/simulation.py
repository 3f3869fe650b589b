"""Play a policy against an environment, many times and on all cores."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from . import rules
from .compiled import lowered
from .environments import Environment, Prior
from .environments.foreign import world_of
from .loop import Tally, new_tally, play
from .merit import Merit, check_conditions
from .policies import Policy
from .policies.foreign import fitted, started
from .result import Result
from .streams import BLOCK, streams
from .types import Indices

CHUNK_SECONDS = 0.1


def simulate(
    policy: Policy[Any],
    environment: Environment | Prior,
    judge: Merit,
    *,
    rounds: int,
    seed: int,
    runs: int | Sequence[int] = 1,
    checkpoints: int | Sequence[int] = 200,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Play `runs` runs of `rounds` rounds and judge every deployed policy by `judge`.

    Parameters
    ----------
    policy, environment
        Ours, or records of your own with the public methods; those are compiled too.
    judge
        The merit that says what would have been fair.
    runs
        How many, numbered from 0, or the numbers of those to play.
    seed
        Run i is a function of (seed, i) alone: neither `runs` nor `jobs` changes it.
    checkpoints
        How many, evenly spaced, or which rounds to record the regrets at.
    jobs
        How many runs at a time; all cores by default.
    progress
        Called from the playing threads with the number of rounds just played, every tenth of a
        second; what it raises ends the simulation. By default, a bar on a terminal.

    Examples
    --------
    >>> from fairx import Exponential, FairXTS, environments, simulate
    >>> merit = Exponential(10)
    >>> world = environments.Bernoulli([0.3, 0.5, 0.6])
    >>> result = simulate(FairXTS(merit, 1, 0.5), world, merit, rounds=5000, runs=2, seed=1)
    >>> result.exposure.round(2)
    array([[0.01, 0.25, 0.74],
           [0.04, 0.2 , 0.76]])
    """
    marks = checkpoint_rounds(checkpoints, rules.count("rounds", rounds))
    run_numbers = run_numbers_of(runs)
    seed = rules.count("seed", seed, low=0)
    jobs = cores() if jobs is None else rules.count("jobs", jobs)
    kernel = fitted(policy)
    # A prior has no `draw`, but other means in each run.
    for run in run_numbers if not hasattr(environment, "draw") else run_numbers[:1]:
        check_merits(policy, judge, world_of(environment, generator_of(seed, run)))
    plays = [_Play(kernel, environment, judge, marks, seed, run) for run in run_numbers]
    run_it = plays[0].compile()
    watch = Watch(rounds * len(plays), progress)
    run_all([functools.partial(one.go, run_it, watch) for one in plays], watch, jobs)
    tallies = [one.tally for one in plays]
    return Result(
        rounds=marks,
        fairness_regret=np.array([tally.curves[0] for tally in tallies]),
        reward_regret=np.array([tally.curves[1] for tally in tallies]),
        exposure=np.array([tally.exposure / rounds for tally in tallies]),
        pulls=np.array([tally.pulls for tally in tallies]),
    )


class _Play:
    """One run: its state, its world and what it adds up."""

    def __init__(
        self, kernel: Any, environment: Any, judge: Any, marks: Indices, seed: int, run: int
    ) -> None:
        self.records = (kernel, environment, judge)
        self.marks, self.seed, self.run = marks, seed, run
        self.tally: Tally

    def begin(self) -> tuple[Any, ...]:
        """Return the arguments of the loop, all new."""
        kernel, environment, judge = self.records
        world = world_of(environment, generator_of(self.seed, self.run))
        arms, dimension = world.features.shape[1:]
        state = started(kernel, arms, dimension, generator_of(self.seed, self.run, own=True))
        self.tally = new_tally(self.marks, arms, *kernel.needs(arms, dimension))
        return kernel, state, world, judge, streams(self.seed, self.run), self.tally

    def compile(self) -> Callable[..., None]:
        """Return the loop in its fastest form for these records."""
        kernel, state, world, judge, keys, tally = self.begin()

        def try_it(run_it: Any, records: tuple[Any, ...]) -> None:
            run_it(*records, keys, tally, 0, 0)

        run_it, _ = play.ready((kernel, state, world, judge), try_it)
        return run_it  # type: ignore[no-any-return]

    def go(self, run_it: Callable[..., None], watch: Watch) -> None:
        """Play in chunks short enough to notice an interruption."""
        *records, keys, tally = self.begin()
        if run_it is not play.interpreted:
            records = [lowered(record) for record in records]
        done, rounds, chunk = 0, int(self.marks[-1]), BLOCK
        while done < rounds and not watch.stopped.is_set():
            start = time.perf_counter()
            stop = min(done + chunk, rounds)
            run_it(*records, keys, tally, done, stop)
            watch.add(stop - done)
            done = stop
            pace = CHUNK_SECONDS / max(time.perf_counter() - start, 1e-9)
            chunk = max(BLOCK, int(chunk * min(pace, 8.0)) // BLOCK * BLOCK)


class Watch:
    """Progress, and the wish to stop."""

    def __init__(self, total: int, progress: Callable[[int], None] | None) -> None:
        from tqdm import tqdm

        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.bar = tqdm(
            total=total, delay=2, disable=bool(progress) or None, leave=False,
            unit="round", unit_scale=True,
        )  # fmt: skip
        self.tell = progress or self.bar.update

    def add(self, rounds: int) -> None:
        """Tell of rounds that were played just now."""
        with self.lock:
            self.tell(rounds)


def run_all(tasks: list[Callable[[], None]], watch: Watch, jobs: int) -> None:
    """Do all tasks, `jobs` at a time; on Ctrl-C, stop them all."""
    try:
        if jobs == 1 or len(tasks) == 1:
            for task in tasks:
                task()
        else:
            with ThreadPoolExecutor(min(jobs, len(tasks))) as pool:
                try:
                    for future in [pool.submit(task) for task in tasks]:
                        future.result()
                except BaseException:
                    watch.stopped.set()
                    raise
    finally:
        watch.bar.close()


def run_numbers_of(runs: int | Sequence[int]) -> Sequence[int]:
    """Return the numbers of the runs to play, each once."""
    if isinstance(runs, (int, np.integer)):
        return range(rules.count("runs", runs))
    numbers = [rules.count("each of the runs", run, low=0) for run in runs]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"runs must be a number, or some distinct numbers, not {runs!r}")
    return numbers


def checkpoint_rounds(checkpoints: int | Sequence[int], rounds: int) -> Indices:
    """Return the rounds to record at: increasing, the last one being `rounds`."""
    if isinstance(checkpoints, (int, np.integer)):
        count = min(rules.count("checkpoints", checkpoints), rounds)
        return np.array([(i + 1) * rounds // count for i in range(count)], np.int64)
    marks = np.array(
        [rules.count("each of the checkpoints", mark) for mark in checkpoints], np.int64
    )
    if not marks.size or (np.diff(marks) <= 0).any() or marks[-1] > rounds:
        raise ValueError(f"checkpoints must increase and not exceed {rounds}, not {checkpoints!r}")
    return marks if marks[-1] == rounds else np.append(marks, rounds)


def check_merits(policy: Any, judge: Merit, world: Any) -> None:
    """Refuse merits that are not positive, finite and increasing where the true means are."""
    for merit in {repr(m): m for m in (judge, getattr(policy, "merit", judge))}.values():
        check_conditions(merit, *world.mean_range())


def generator_of(seed: int, run: int, *, own: bool = False) -> np.random.Generator:
    """Return the NumPy generator of a run: one for its world, one for a policy of others."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, int(own))))


def cores() -> int:
    """Return how many runs this process may play at a time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
