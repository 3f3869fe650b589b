"""Runs on a GPU: whether they make the processor's choices, and how many rounds a second there are.

python benchmarks/gpu.py agree   # some policies among 14 arms, and all of the tests', beside the processor (--help)
python benchmarks/gpu.py rates   # rounds a second, by policy and number of runs (--only NAME, --elsewhere)
python benchmarks/gpu.py cores   # rounds a second of FairX-LinTS on two cores: no GPU is needed
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import gpu_agreement
import numpy as np

import fairx
from fairx import datasets, environments, policies, simulate
from fairx.compiled.gpu import capability, compile_together
from fairx.simulation import fleets
from fairx.simulation.measures import measures_of
from fairx.simulation.one_run import OneRun

MERIT = fairx.Exponential(10)
GENTLE = fairx.Exponential(3)


def yeast() -> Any:
    """Return the arms of the yeast data."""
    return environments.Bernoulli(datasets.load("yeast").labels.mean(axis=0))


def linear() -> Any:
    """Return made-up contexts of the size of the yeast data: 14 arms, 50 features."""
    rng = np.random.default_rng(1)
    contexts = rng.normal(size=(1934, 14, 50)) / 7
    parameter = rng.normal(size=50) / 7
    means = np.clip(0.5 + contexts @ parameter, 0, 1)
    return environments.Labelled(contexts, (rng.random(means.shape) < means) * 1.0, parameter)


def cases() -> dict[str, tuple[Any, Any, Any]]:
    """Return policies with their worlds and judges."""
    moving = environments.RandomWalk(np.linspace(0.2, 0.8, 14), 0.003)
    still = {
        "FairXTS": fairx.FairXTS(MERIT, 1, 0.5),
        "FairXUCB": fairx.FairXUCB(MERIT, 0.05),
        "FairXUCB-gradient": fairx.FairXUCB(MERIT, 0.05, solver="gradient"),
        "FairXUCB-kl": fairx.FairXUCB(MERIT, 0.5, bounds=(0, 1), interval="kl"),
        "FairXEG": fairx.FairXEG(MERIT, 0.01),
        "UCB": fairx.UCB(0.3),
        "TS": fairx.TS(1, 0.5),
        "EG": fairx.EG(0.1),
        "FairXBetaTS": policies.FairXBetaTS(MERIT),
        "SDTS": policies.SDTS(),
        "Exp3": policies.Exp3(0.1),
    }
    with_contexts = {
        "FairXLinTS": fairx.FairXLinTS(GENTLE, 1, 0.5),
        "FairXLinUCB": fairx.FairXLinUCB(GENTLE, 0.1, 1),
        "FairXLinUCB-gradient": fairx.FairXLinUCB(GENTLE, 0.1, 1, solver="gradient"),
        "FairXLinEG": fairx.FairXLinEG(GENTLE, 0.01, 1),
        "LinUCB": fairx.LinUCB(0.3, 1),
        "LinTS": fairx.LinTS(1, 0.5),
    }
    found = {name: (policy, yeast(), MERIT) for name, policy in still.items()}
    found |= {name: (policy, linear(), GENTLE) for name, policy in with_contexts.items()}
    found["walking"] = (fairx.FairXTS(MERIT, 1, 0.5), moving, MERIT)
    many = environments.Bernoulli(
        np.linspace(0.02, 0.6, 101)
    )  # whose steps the lanes of a warp share
    for name in ("FairXTS", "FairXUCB-gradient", "FairXEG"):
        found[f"{name}-101"] = (still[name], many, MERIT)
    return found | tested()


def tested() -> dict[str, tuple[Any, Any, Any]]:
    """Return every policy that CI compiles for GPUs, in a small world of the tests."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    tests: Any = importlib.import_module("cases")
    still, contexts = tests.ENVIRONMENTS[0], tests.ENVIRONMENTS[3]
    chances = environments.LogisticLinear(tests.contexts(), np.full(5, 0.4))
    every = [*tests.FAIR[:7], *tests.FAIR[21:], *tests.CONVENTIONAL, *tests.RIVALS, *tests.LOGISTIC]
    found = {}
    for i, policy in enumerate(every):
        name = tests.name(policy)
        world = contexts if "Lin" in name else chances if "Logistic" in name else still
        found[f"{i} {name}"] = policy, world, GENTLE
    return found


def rate(name: str, runs: int, rounds: int, *, elsewhere: bool) -> None:
    """Print how many rounds a second a policy plays, by a kernel that its launch compiled, or another process did."""
    policy, world, judge = cases()[name]
    marks = np.array([rounds])
    records = policy, world, judge, measures_of({})
    fleet = fleets.fleet_of([OneRun(records, 0, marks, 1, run) for run in range(runs)])
    if elsewhere:
        compile_together([fleet.wanted(capability())], jobs=2, least=1)
    fleet.send()
    fleet.play(0, 0)
    times = []
    for chunk in range(3):
        begun = time.perf_counter()
        fleet.play(chunk * rounds // 3 // 16 * 16, (chunk + 1) * rounds // 3 // 16 * 16)
        times.append(time.perf_counter() - begun)
    print(
        f"{name:22} {runs:>7,} runs: {runs * rounds / 3 / min(times) / 1e9:8.4f} G rounds/s"
        f" ({min(times):.2f} s a launch)",
        flush=True,
    )


def on_cores(rounds: int = 400_000) -> None:
    """Print how many rounds a second two cores play of what a GPU is measured by."""
    policy, world, judge = cases()["FairXLinTS"]
    simulate(policy, world, judge, rounds=16, seed=1)  # compiles it
    for jobs in (1, 2, 2, 2):
        begun = time.perf_counter()
        simulate(policy, world, judge, rounds=rounds, runs=2 * jobs, seed=1, jobs=jobs)
        took = time.perf_counter() - begun
        print(f"FairXLinTS, {jobs} at a time: {2 * jobs * rounds / took / 1e6:.2f} M rounds/s")


def main() -> None:
    """Measure what the command line says."""
    what, *rest = sys.argv[1:]
    if what == "agree":
        gpu_agreement.main(rest)
    elif what == "cores":
        on_cores()
    else:
        only = [name for name in rest if not name.startswith("--")]
        for name, runs, rounds in (
            ("FairXTS", 8192, 144_000), ("FairXTS", 131_072, 43_200), ("FairXUCB", 8192, 48_000), ("FairXUCB-gradient", 650, 4_800),
            ("FairXEG", 131_072, 9_600), ("FairXLinTS", 2048, 4_800), ("FairXLinEG", 2048, 4_800),
            ("LinUCB", 2048, 2_400), ("FairXLinUCB", 660, 1_200), ("FairXLinUCB-gradient", 528, 1_200),
            ("FairXLinTS", 40, 4_800), ("FairXLinUCB", 40, 1_200), ("FairXLinUCB-gradient", 40, 1_200),
            ("FairXTS-101", 2020, 4_800), ("FairXUCB-gradient-101", 2020, 4_800), ("FairXEG-101", 2020, 4_800),
        ):  # fmt: skip
            if not only or name in only:
                rate(name, runs, rounds, elsewhere="--elsewhere" in rest)


if __name__ == "__main__":
    main()
