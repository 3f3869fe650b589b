"""Runs of a compiled loop: which there are, their randomness, and playing them all."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from fairx import rules
from fairx.merit import Merit, check_conditions, merit_given
from fairx.numerics.streams import BLOCK
from fairx.types import Indices

from .bars import bar, is_watched
from .provenance import Provenance
from .result import Result
from .tally import CURVES, Tally

CHUNK_SECONDS = 0.1


class Run(Protocol):
    """One run: it can be compiled for, and played once."""

    run: int  # its number
    tally: Tally  # what it added up

    def compile(self) -> Any:
        """Return the loop in its fastest form for the records of this run."""
        ...

    def play(self, loop: Any, watch: Watch) -> None:
        """Play from the beginning to the end, or until the watch is stopped."""
        ...


def played(
    runs: Sequence[Run], marks: Indices, jobs: int | None, progress: Callable[[int], None] | None,
    measures: Iterable[str], origin: Provenance,
) -> Result:  # fmt: skip
    """Play all runs, `jobs` at a time, and return what they added up."""
    jobs = cores() if jobs is None else rules.count("jobs", jobs)
    rounds, loop = int(marks[-1]), runs[0].compile()
    watch = Watch(rounds * len(runs), progress)
    _do_all([functools.partial(run.play, loop, watch) for run in runs], watch, jobs)
    return gathered(runs, marks, measures, origin)


def gathered(
    runs: Sequence[Run], marks: Indices, measures: Iterable[str], origin: Provenance
) -> Result:
    """Return what runs that were played added up."""
    rounds, tallies = int(marks[-1]), [run.tally for run in runs]
    curves = np.array([tally.curves for tally in tallies]).swapaxes(0, 1).copy()
    return Result(
        rounds=marks,
        **dict(zip(CURVES, curves, strict=False)),
        exposure=np.array([tally.exposure / rounds for tally in tallies]),
        pulls=np.array([tally.pulls for tally in tallies]),
        exposure_curves=np.array([tally.exposures for tally in tallies]),
        measures=dict(zip(measures, curves[len(CURVES) :], strict=True)),
        runs=np.array([run.run for run in runs]),
        provenance=origin,
    )


class Watch:
    """Progress, and the wish to stop."""

    def __init__(self, total: int, progress: Callable[[int], None] | None) -> None:
        given: Any = progress
        if given is not None and not callable(given):
            rule = "a function, which is told the rounds just played"
            raise ValueError(f"progress must be {rule}, not {given!r}: a bar shows by itself")
        self.stopped = threading.Event()
        self.owed = 0  # rounds that were told of, and are not played yet
        self.lock = threading.Lock()
        self.bar = bar(
            total=total, delay=2, leave=False, unit="round", unit_scale=True,
            disable=progress is not None or not is_watched(),
        )  # fmt: skip
        self.tell = self.bar.update if progress is None else progress

    def add(self, rounds: int) -> None:
        """Tell of rounds that were played just now, and not told of before."""
        with self.lock:
            again = min(rounds, self.owed)
            self.owed -= again
            if rounds > again:
                self.tell(rounds - again)

    def take_back(self, rounds: int) -> None:
        """Know that rounds that were told of will be played again."""
        with self.lock:
            self.owed += rounds

    def walk(self, stop: int, step: Callable[[int, int], bool]) -> None:
        """Call step(start, stop) from 0 on in chunks short enough to notice an interruption.

        Chunks are whole blocks of random numbers. It ends at `stop`, or when a step says that
        nothing is left to do.
        """
        done, chunk, more = 0, BLOCK, True
        while more and done < stop and not self.stopped.is_set():
            begun, end = time.perf_counter(), min(done + chunk, stop)
            more, done = step(done, end), end
            chunk = paced(chunk, time.perf_counter() - begun)


def paced(chunk: int, seconds: float) -> int:
    """Return how many rounds to play at a time, where this many took these seconds.

    Examples
    --------
    >>> paced(1600, 0.2), paced(1600, 0.0), paced(0, 1.0)
    (800, 12800, 16)
    """
    pace = CHUNK_SECONDS / max(seconds, 1e-9)
    return max(BLOCK, int(chunk * min(pace, 8.0)) // BLOCK * BLOCK)


def _do_all(tasks: list[Callable[[], None]], watch: Watch, jobs: int) -> None:
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


def run_numbers(runs: int | Sequence[int]) -> Sequence[int]:
    """Return the numbers of the runs to play, each once."""
    if isinstance(runs, (int, np.integer)):
        return range(rules.count("runs", runs))
    numbers = [rules.count("each of the runs", run, low=0) for run in _listed(runs)]
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"runs must be a number, or some distinct numbers, not {runs!r}")
    return numbers


def _listed(runs: Any) -> list[Any]:
    if not isinstance(runs, Iterable):
        raise rules.InvalidValue("runs", f"be a number, or some distinct numbers, not {runs!r}")
    return list(runs)


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
    merit_given("judge", judge)
    own = getattr(policy, "merit", judge)
    for merit in [judge] if own is judge else [judge, own]:
        check_conditions(merit, *world.mean_range())
    if hasattr(policy, "check_reach"):
        policy.check_reach(*world.reward_range())


def check_means_seen(run: int, world: Any, judge: Merit) -> None:
    """Refuse a judge that is no merit at all the means of a run, where they were not known before."""
    if hasattr(world, "seen"):
        low, high = world.mean_range()
        try:
            check_conditions(judge, low, high)
        except rules.InvalidValue as error:
            remedy = "bound the means, or choose another judge"
            raise ValueError(f"{error}: run {run} has means {low} to {high}; {remedy}") from None


def generator_of(seed: int, run: int, *, own: bool = False) -> np.random.Generator:
    """Return the NumPy generator of a run: one for its world, one for a policy of others."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run, int(own))))


def cores() -> int:
    """Return how many runs this process may play at a time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
