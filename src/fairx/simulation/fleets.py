"""Fleets of runs for a GPU: what is sent of each, and where it lies.

A run without contexts is played by one thread, whose arrays lie in registers and local memory; one with contexts, or
with gradient steps of many arms, by the 32 lanes of a warp, which share what `fairx.compiled.turns` marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairx.compiled import is_our_class, is_overridden
from fairx.compiled.gpu import LANES, Fleet, alike, is_simulated, kind_of, leaves
from fairx.environments.base import DOORS, world_of
from fairx.numerics.gpu_streams import ThreadStreams, WarpStreams
from fairx.numerics.streams import BLOCK, HALF
from fairx.policies.gradient import takes_steps
from fairx.policies.ridge import Ridge
from fairx.rules import InvalidValue
from fairx.texts import short

from .loop import play_rounds
from .one_run import OneRun
from .runs import generator_of
from .sending import REMEDY, check_sent
from .tally import Tally

# Not what notions keep in `seen` from round to round: it is sent, and comes back, like all that a run adds up.
SCRATCH = ("deployed", "fair", "means", "candidates", "contexts", "work", "normals", "noise")
FAR = ("curves", "exposures", "marks")
SUMS = ("fairness", "reward", "exposure", "pulls")  # where shared memory is scarce
ARGUMENTS = 32_764  # bytes that a kernel takes
NEAR = 8192  # bytes of contexts that are brought near the lanes, at most


def check_device(run: OneRun) -> None:
    """Refuse what a GPU cannot play."""
    policy, environment, *_ = run.records
    if run.places is not None:
        raise InvalidValue("weights", f"be left out on a GPU, which plays one place: {REMEDY}")
    if hasattr(policy, "start_with"):
        theirs = f"have `propose` and `absorb` to be played on a GPU, not {short(policy.policy)}"
        raise InvalidValue(
            "policy",
            f"{theirs}: `probabilities` takes a generator, which is not there; {REMEDY}",
        )
    if not hasattr(environment, "world") or is_overridden(environment, DOORS):
        theirs = f"be played by its `world` on a GPU, not {short(environment)}"
        why = "`draw` and what goes with it take a generator, which is not there"
        raise InvalidValue("environment", f"{theirs}: {why}; {REMEDY}")


def kinds(runs: Sequence[OneRun]) -> list[list[OneRun]]:
    """Return runs in groups of those that can be played together."""
    rooms: dict[tuple[int, int], Any] = {}  # by policy and world: runs of one simulation share both

    def kind_of_run(run: OneRun) -> Any:
        policy, environment, judge, measuring = run.records
        both = id(policy), id(environment)
        if both not in rooms:
            rooms[both] = _room_of(run)
        alone = kind_of((policy, judge, measuring))
        return id(environment), run.marks.tobytes(), alone, rooms[both]

    return alike(runs, kind_of_run)


def _room_of(run: OneRun) -> Any:
    """Return what a run keeps and works in, which may follow from a setting, as a window does."""
    policy, environment, *_ = run.records
    world = world_of(environment, generator_of(run.seed, run.run))
    arms, dimension = world.features.shape[1:]
    return kind_of(policy.start(arms, dimension)), policy.needs(arms, dimension)


def fleet_of(runs: Sequence[OneRun]) -> Fleet:
    """Return the runs, ready to be sent: the first one twice, if there is no other."""
    begun = [run.begin() for run in (runs if len(runs) > 1 else [runs[0], runs[0]])]
    check_sent([alone[:5] for alone, _ in begun[:2]])
    world = begun[0][0][2]
    if getattr(
        world, "lends_arrays", False
    ):  # numba-cuda lets no function return a part of a field
        name = short(runs[0].records[1])
        raise InvalidValue("environment", f"have all arms on offer on a GPU, not {name}: {REMEDY}")
    warps = world.features.shape[2] > 0 or _is_shared([alone for alone, _ in begun])
    keys = WarpStreams if warps else ThreadStreams
    records = [(*_slim(alone), keys._make(rest[0])) for alone, rest in begun]
    tally = _with_room(begun[0][1][1], *world.features.shape[1:], warps=warps)
    far = FAR + SUMS if warps else FAR
    # Normal numbers that wait fill the cache: the state, the record behind the policy, is out of their way.
    end = str(len(records[0]))
    busy = [("1",), (end, "normals"), (end, "pulls")] if tally.noise.size else []
    lanes = LANES if warps and not any(map(_is_written_by_others, (begun[0][0][0], world))) else 1
    fleet = Fleet(
        play_rounds, records, tally, SCRATCH, far, busy, warps=warps, lanes=lanes, runs=len(runs)
    )
    if fleet.bytes_of_arguments > ARGUMENTS:
        rule = f"take at most {ARGUMENTS:,} bytes of arguments on a GPU, not {fleet.bytes_of_arguments:,}"
        raise InvalidValue("a run", f"{rule}: many numbers belong in an array, or {REMEDY}")
    return fleet


def _is_written_by_others(record: Any) -> bool:
    """Tell whether code of others changes what a run keeps: it does not know of other lanes."""
    if not isinstance(record, tuple):
        return False
    writes = hasattr(record, "absorb") or hasattr(record, "pay")
    return (writes and not is_our_class(type(record))) or any(map(_is_written_by_others, record))


def _is_shared(runs: Sequence[tuple[Any, ...]]) -> bool:
    """Tell whether lanes share rounds without contexts: steps of many arms, where no array but the policy's changes."""
    policy, _, world, *_ = runs[0]
    if not (is_our_class(type(policy)) and takes_steps(policy) and len(world.features[0]) > LANES):
        return False
    others = leaves([records[2:] for records in runs])
    return not any(leaf.is_array and leaf.is_own and leaf.first.size for leaf in others)


def _slim(records: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the records of a run, without the sums of a regression that are only added to."""
    policy, state, *rest = records
    if isinstance(state, Ridge) and is_our_class(type(policy)):
        rows = None if takes_steps(policy) else 0
        state = state._replace(precision=state.precision[:rows], target=state.target[:0])
    return policy, state, *rest


def _with_room(tally: Tally, arms: int, dimension: int, *, warps: bool) -> Tally:
    """Return a tally with room for contexts, and without that for numbers that a GPU makes when they are needed."""
    each = tally.normals.size // BLOCK
    rows = arms if arms * dimension * tally.work.itemsize <= NEAR else 0
    few = not warps and not is_simulated()  # a thread has few registers, and the simulator no forms
    sums = min(arms, 2) if few else arms
    seen = arms if tally.measured.size else 0
    return tally._replace(
        fairness=np.zeros(sums), reward=np.zeros(sums),
        contexts=np.empty((rows, dimension)), normals=np.empty(each),
        candidates=tally.candidates[:seen], seen=tally.seen[:, :seen],
        uniforms=np.empty((3, 0)), noise=np.empty(0 if warps else each * HALF),
    )  # fmt: skip
