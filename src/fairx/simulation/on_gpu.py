"""Runs on a GPU: all that are alike in one launch, each with settings of its own.

A run without contexts is played by one thread, whose arrays lie in registers and local memory; one with contexts
by the 32 lanes of a warp, which share what `fairx.compiled.turns` marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairx.compiled import is_our_class
from fairx.compiled.gpu import (
    Fleet,
    alike,
    complaint_of,
    free_memory,
    halved,
    is_out_of_memory,
    kind_of,
)
from fairx.numerics.gpu_streams import BUFFERED, ThreadStreams, WarpStreams
from fairx.policies.gradient import reads_precision
from fairx.policies.ridge import Ridge
from fairx.rules import InvalidValue
from fairx.texts import short

from .loop import play_rounds
from .one_run import OneRun
from .runs import Watch
from .tally import Tally

SCRATCH = ("deployed", "fair", "means", "candidates", "seen", "contexts", "work", "normals")
FAR = ("curves", "exposures", "marks")
SUMS = ("fairness", "reward", "exposure", "pulls")  # where shared memory is scarce
RESULTS = ("exposure", "pulls", "curves", "exposures")
REMEDY = "leave out device"
MOST = 1 << 17  # runs at a time: more do not play faster
NEAR = 8192  # bytes of contexts that are brought near the lanes, at most


def play_on_gpu(runs: Sequence[OneRun], progress: Callable[[int], None] | None) -> None:
    """Play all runs, of any kinds, those of one kind together."""
    for run in runs:
        check_device(run)
    watch = Watch(sum(int(run.marks[-1]) for run in runs), progress)
    try:
        for group in alike(runs, _kind):
            group[0].try_out()
            _play_alike(group, watch)
    finally:
        watch.bar.close()


def check_device(run: OneRun) -> None:
    """Refuse what a GPU cannot play."""
    policy, environment, *_ = run.records
    if run.places is not None:
        raise InvalidValue("weights", f"be left out on a GPU, which plays one place: {REMEDY}")
    if hasattr(policy, "start_with"):
        theirs = f"have `propose` and `absorb` to be played on a GPU, not {short(policy.policy)}"
        raise InvalidValue(
            "policy", f"{theirs}: `probabilities` takes a generator, which is not there"
        )
    if not hasattr(environment, "world"):
        theirs = f"have `world` to be played on a GPU, not {short(environment)}"
        raise InvalidValue("environment", f"{theirs}: `draw` takes a generator, which is not there")


def _kind(run: OneRun) -> Any:
    """Return what runs must have in common to be played together."""
    policy, environment, judge, measuring = run.records
    return id(environment), run.marks.tobytes(), kind_of((policy, judge, measuring))


def _play_alike(runs: Sequence[OneRun], watch: Watch) -> None:
    """Play runs of one kind, as many at a time as there is memory for."""
    most = MOST
    while runs and not watch.stopped.is_set():
        try:
            fleet = fleet_of(runs[:most])
            fits = max(1, free_memory() // fleet.bytes_each)
            if fits < len(fleet):
                fleet = fleet_of(runs[:fits])
            _play(fleet, runs[: len(fleet)], watch)
        except Exception as error:
            if is_out_of_memory(error):
                most = halved(min(most, len(runs)), error)
                continue
            raise complaint_of(error, short(runs[0].records[0])) from error
        runs = runs[len(fleet) :]


def fleet_of(runs: Sequence[OneRun]) -> Fleet:
    """Return the runs, ready to be sent: the first one twice, if there is no other."""
    begun = [run.begin() for run in (runs if len(runs) > 1 else [runs[0], runs[0]])]
    world = begun[0][0][2]
    if getattr(
        world, "lends_arrays", False
    ):  # numba-cuda lets no function return a part of a field
        name = short(runs[0].records[1])
        raise InvalidValue("environment", f"have all arms on offer on a GPU, not {name}: {REMEDY}")
    warps = world.features.shape[2] > 0
    keys = WarpStreams if warps else ThreadStreams
    records = [(*_slim(alone), keys._make(rest[0])) for alone, rest in begun]
    tally = _with_room(begun[0][1][1], *world.features.shape[1:])
    far = FAR + SUMS if warps else FAR
    return Fleet(play_rounds, records, tally, SCRATCH, far, warps=warps, runs=len(runs))


def _slim(records: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the records of a run, without the sums of a regression that are only added to."""
    policy, state, *rest = records
    if isinstance(state, Ridge) and is_our_class(type(policy)):
        rows = None if reads_precision(policy) else 0
        state = state._replace(precision=state.precision[:rows], target=state.target[:0])
    return policy, state, *rest


def _with_room(tally: Tally, arms: int, dimension: int) -> Tally:
    """Return a tally with room for contexts, and without that for numbers that a GPU makes when they are needed."""
    each = tally.normals.size // tally.noise.size * (1 if dimension else BUFFERED)
    rows = arms if arms * dimension * tally.work.itemsize <= NEAR else 0
    seen = arms if tally.measured.size else 0
    return tally._replace(
        contexts=np.empty((rows, dimension)), normals=np.empty(each),
        candidates=tally.candidates[:seen], seen=tally.seen[:, :seen],
        uniforms=np.empty((3, 0)), noise=np.empty(0),
    )  # fmt: skip


def _play(fleet: Fleet, runs: Sequence[OneRun], watch: Watch) -> None:
    """Play whole runs in chunks, and give each its tally."""
    fleet.send()

    done = 0

    def step(start: int, stop: int) -> bool:
        nonlocal done
        fleet.play(start, stop)
        done += (stop - start) * len(runs)
        watch.add((stop - start) * len(runs))
        return True

    try:
        watch.walk(int(runs[0].marks[-1]), step)
    except Exception:
        watch.take_back(done)
        raise
    found = {name: fleet.result(name) for name in RESULTS}
    for i, run in enumerate(runs):
        run.tally = run.tally._replace(**{name: found[name][i] for name in RESULTS})
