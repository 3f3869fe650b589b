"""Odd shapes, code of others and short memory in the simulator of numba-cuda: a process of its own, which prints JSON.

Its environment has `NUMBA_ENABLE_CUDASIM=1` and `NUMBA_DISABLE_JIT=1`.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import math
import os
import signal
import sys
import threading
import time
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from fairx import (
    Affine,
    Exponential,
    FairXEG,
    FairXLinTS,
    FairXLinUCB,
    FairXTS,
    FairXUCB,
    Windowed,
    simulate,
)
from fairx.compiled.gpu import Fleet
from fairx.environments import Bernoulli, Linear, Normal
from fairx.experiments import read
from fairx.experiments.gpu import gpu_player
from fairx.experiments.problems import dataset
from fairx.experiments.tasks import play, validation_tasks
from fairx.experiments.tuning import entered
from fairx.simulation import joining, on_gpu
from fairx.simulation.measures import measures_of
from fairx.simulation.notions import NOTIONS
from fairx.simulation.one_run import OneRun

MERIT = Exponential(4.0)
TS, COINS = FairXTS(MERIT, 1, 0.5), Bernoulli([0.2, 0.8, 0.5])
SOME: Any = {"rounds": 40, "runs": 3, "seed": 1, "checkpoints": 4}


class Divided(NamedTuple):
    """A policy of others, in its inner form, which divides what it is told to: 1, if it is right."""

    whole: float

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        return 0, 0

    def start(self, arms: int, dimension: int = 0) -> Any:
        return np.zeros(arms)

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        for position in range(len(arms)):
            out[position] = self.whole / len(arms)

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state[arm] += reward

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        return np.full(len(arms), self.whole / len(arms))

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state[arm] += reward


def linear(arms: int, dimension: int) -> Linear:
    rng = np.random.default_rng(0)
    return Linear(rng.normal(size=(5, arms, dimension)), rng.normal(size=dimension), 0.1)


SHAPES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "one arm": (TS, Bernoulli([0.5]), {}),
    "one arm, intervals": (FairXUCB(MERIT, 0.2), Bernoulli([0.5]), {}),
    "two arms": (TS, Bernoulli([0.2, 0.8]), {}),
    "no noise": (TS, Normal([0.2, 0.8], 0.0), {}),
    "one run": (TS, COINS, {"runs": 1}),
    "runs by number": (TS, COINS, {"runs": [5, 2, 9]}),
    "more runs than a block of threads": (FairXEG(MERIT, 0.1), COINS, {"runs": 70, "rounds": 5}),
    "one round": (TS, COINS, {"rounds": 1, "checkpoints": 1}),
    "15 rounds": (TS, COINS, {"rounds": 15}),
    "17 rounds": (TS, COINS, {"rounds": 17}),
    "checkpoints about blocks": (TS, COINS, {"rounds": 33, "checkpoints": [1, 2, 16, 17, 32, 33]}),
    "every round": (TS, COINS, {"rounds": 20, "checkpoints": list(range(1, 21))}),
    "a policy of others": (Divided(1.0), COINS, {}),
    "one feature": (FairXLinTS(MERIT, 1.0, 0.5), linear(3, 1), {"rounds": 18}),
    "one feature, one arm": (FairXLinUCB(MERIT, 0.1, 1.0), linear(1, 1), {"rounds": 18, "runs": 2}),
    "more features than lanes": (FairXLinTS(MERIT, 1.0, 0.5), linear(2, 33), {"rounds": 5, "runs": 2}),
}  # fmt: skip


def played(policy: Any, world: Any, judge: Any = MERIT, **options: Any) -> Any:
    """Return what is said where it is refused, and else the result."""
    try:
        return simulate(policy, world, judge, **SOME | options)
    except Exception as error:  # noqa: BLE001 - told
        return f"{type(error).__name__}: {error}"


def wrong() -> dict[str, list[str]]:
    """Return what the processor says of code of others that is wrong, and what is said for a GPU."""
    policies: Any = {
        "sum 0.5": Divided(0.5),
        "no number": Divided(float("nan")),
        "negative": Divided(-1.0),
    }
    found = {
        name: [str(played(policy, COINS, device=device))[:30] for device in ("cpu", "cuda")]
        for name, policy in policies.items()
    }
    text: Any = {"first": lambda seen: "a"}
    found["a measure that is no number"] = [
        str(played(TS, COINS, measures=text, device=device))[:30] for device in ("cpu", "cuda")
    ]
    return found


def short_of_memory() -> dict[str, Any]:
    """Return the rounds that are told of where memory ends at the start, and in the middle."""
    found, here = dict[str, Any](), played(TS, COINS, runs=7)
    send, launch = Fleet.send, Fleet.launch

    def at_start(fleet: Any) -> Any:
        if len(fleet) > 2:
            raise MemoryError
        return send(fleet)

    def in_the_middle(fleet: Any, start: int, stop: int) -> Any:
        if len(fleet) > 2 and start >= 16:
            raise MemoryError
        return launch(fleet, start, stop)

    for name, method, what in (("start", "send", at_start), ("middle", "launch", in_the_middle)):
        told: list[int] = []
        with patch.object(Fleet, method, what):
            there = played(TS, COINS, runs=7, device="cuda", progress=told.append)
        found[name] = [there == here, sum(told)]
    with patch.object(on_gpu, "free_memory", lambda: 1):
        found["one at a time"] = [played(TS, COINS, runs=7, device="cuda") == here, 280]
    with patch.object(Fleet, "send", side_effect=MemoryError("none")):
        found["none"] = played(TS, COINS, device="cuda")
    return found


def one_fleet_at_a_time() -> list[int]:
    """Return how many runs of several kinds are right, and the rounds told, where there is memory for one kind."""
    policies: Any = [TS, FairXUCB(MERIT, 0.2), FairXEG(MERIT, 0.1), FairXTS(MERIT, 2, 0.5)]
    marks, told, afloat = np.array([40]), list[int](), list[Any]()
    records = [(policy, COINS, MERIT, measures_of({})) for policy in policies for _ in range(2)]
    runs = [OneRun(each, 0, marks, 1, i) for i, each in enumerate(records)]
    send, launch, result = Fleet.send, Fleet.launch, Fleet.result

    def sent(fleet: Any) -> None:
        afloat.append(fleet)
        send(fleet)

    def launched(fleet: Any, start: int, stop: int) -> None:
        if afloat[0] is not fleet:
            afloat.remove(fleet)
            raise MemoryError
        launch(fleet, start, stop)

    def ended(fleet: Any, name: str) -> Any:
        afloat[:] = [one for one in afloat if one is not fleet]
        return result(fleet, name)

    with patch.multiple(Fleet, send=sent, launch=launched, result=ended):
        on_gpu.play_on_gpu(runs, told.append)
    here = [played(run.records[0], COINS, runs=[run.run], checkpoints=1).pulls[0] for run in runs]
    alike = [np.array_equal(run.tally.pulls, pulls) for run, pulls in zip(runs, here, strict=True)]
    return [sum(alike), len(runs), sum(told)]


class Worked(NamedTuple):
    """A policy of others whose working memory follows from a setting: it plays one of the first arms."""

    numbers: int

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        return 0, self.numbers

    def start(self, arms: int, dimension: int = 0) -> Any:
        return np.zeros(arms)

    def propose(
        self, state: Any, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        for position in range(len(arms)):
            out[position] = 1.0 / len(work) if position < len(work) else 0.0

    def absorb(self, state: Any, arm: int, context: Any, reward: float, work: Any) -> None:
        state[arm] += reward


def rooms() -> dict[str, bool]:
    """Tell whether runs are right whose state, or whose working memory, is as large as a setting says."""
    some: Any = {
        "state": [Windowed(TS, 5), Windowed(TS, 9)],
        "work": [Worked(3), Worked(2)],
    }
    return {name: played_together(policies) for name, policies in some.items()}


def played_together(policies: list[Any]) -> bool:
    """Tell whether two runs of each policy, sent at once, have the processor's pulls."""
    pairs = [(policy, COINS, MERIT, measures_of({})) for policy in policies for _ in range(2)]
    runs = [OneRun(each, 0, np.array([40]), 1, i) for i, each in enumerate(pairs)]
    on_gpu.play_on_gpu(runs, lambda rounds: None)
    here = [played(run.records[0], COINS, runs=[run.run]).pulls[0] for run in runs]
    return all(np.array_equal(run.tally.pulls, one) for run, one in zip(runs, here, strict=True))


def memory_of_others() -> bool:
    """Tell whether notions are right where memory holds the means already, and not what follows from them."""
    local = importlib.import_module("numba.cuda.simulator.kernelapi").FakeCUDALocal
    settings: Any = {"measures": NOTIONS, "rounds": 100}
    policy, even = FairXEG(MERIT, 0.1), Bernoulli([0.5, 0.5, 0.5])

    def left(_: Any, shape: Any, kind: str) -> Any:
        return np.full(shape, 0.5).astype(kind)

    here = played(policy, even, **settings)
    with patch.object(local, "array", left):
        return bool(played(policy, even, **settings, device="cuda") == here)


def raised() -> str:
    """Return what is said where a run ends before its rounds do, as one whose code raises on a GPU."""
    launch = Fleet.launch

    def ending(fleet: Any, start: int, stop: int) -> None:
        launch(fleet, start, min(stop, 16))

    with patch.object(Fleet, "launch", ending):
        return str(played(TS, COINS, device="cuda"))


def interrupted() -> bool:
    """Tell whether Ctrl-C ends it, and the next one is right."""

    def stop(rounds: int) -> None:
        raise KeyboardInterrupt

    try:
        played(TS, COINS, device="cuda", progress=stop)
    except KeyboardInterrupt:
        return bool(played(TS, COINS, device="cuda") == played(TS, COINS))
    return False


def interrupted_while_compiling() -> float:
    """Return how many seconds Ctrl-C takes while kernels are compiled, which takes for ever if nobody stops it."""

    def compile_slowly(*arguments: Any) -> None:
        end, stops = time.monotonic() + 20, [one for one in arguments if callable(one)]
        while time.monotonic() < end and not any(stop() for stop in stops):
            time.sleep(0.01)

    begun, timer = time.monotonic(), threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    with patch.object(joining, "compile_together", compile_slowly):
        timer.start()
        try:
            played(TS, COINS, device="cuda")
        except KeyboardInterrupt:
            return time.monotonic() - begun
    return math.inf


def stopped_experiment() -> list[int]:
    """Return how many tasks there are, how many rows were kept, how many came after, and how many are right."""
    experiment = read("fig2", "smoke")[0]._replace(tuning_rounds=24, validation_runs=2)
    checksum, merit = dataset(experiment.problem).checksum, experiment.merits[0]
    tasks = [
        task
        for entrant in experiment.policies
        for task in validation_tasks(
            experiment, entrant, next(iter(entrant.points())), merit, checksum
        )
    ]
    rows: dict[Any, Any] = {}

    def stop(rounds: int) -> None:
        if len(rows) >= 4:
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        for done in gpu_player()(tasks, stop):
            rows |= dict(done)
    kept = len(rows)
    left = [task for task in tasks if task not in rows]
    rows |= dict(itertools.chain.from_iterable(gpu_player()(left, lambda rounds: None)))
    right = sum(
        all(np.array_equal(rows[task][name], value) for name, value in play(task).items())
        for task in tasks
    )
    return [len(tasks), kept, len(left), right]


def joined() -> list[Any]:
    """Return the parts and rounds of tasks as they come back, where tests join a long run, and how many are right."""
    experiment = read("fig2", "smoke")[0]._replace(
        tuning_rounds=16, rounds=(32,), validation_runs=2
    )
    checksum = dataset(experiment.problem).checksum
    one = next(iter(entered(experiment, checksum)))
    tasks = one.tuning()[:2]
    tasks.append(tasks[0]._replace(rounds=2_000))
    rows, order = dict[Any, Any](), list[Any]()
    for done in gpu_player()(tasks, lambda rounds: None):
        rows |= dict(done)
        order.append([done[0][0].part, done[0][0].rounds, len(done)])
        if len(order) == 1:
            tasks += one.tests_of(one.points()[1])[:2]
    right = [np.array_equal(rows[task]["pulls"], play(task)["pulls"]) for task in tasks]
    return [order, sum(right)]


def main() -> None:
    """Print all of it."""
    with np.errstate(all="ignore"):
        shapes = {
            name: bool(played(*both, **options) == played(*both, **options, device="cuda"))
            for name, (*both, options) in SHAPES.items()
        }
        judged = played(TS, COINS, Affine(1, 0.5)) == played(
            TS, COINS, Affine(1, 0.5), device="cuda"
        )
        found = {
            "shapes": shapes | {"another judge": bool(judged)}, "wrong": wrong(),
            "memory": short_of_memory(), "one at a time": one_fleet_at_a_time(), "interrupted": interrupted(),
            "while compiling": interrupted_while_compiling(), "experiment": stopped_experiment(),
            "joined": joined(), "memory of others": memory_of_others(),
            "rooms": rooms(), "raised": raised(),
        }  # fmt: skip
    json.dump(found, sys.stdout, default=str)


if __name__ == "__main__":
    main()
