"""Fair bandits of others: time a round beside FairX-TS, and the ridge regression that forgets after 2,000,000 rewards.

python benchmarks/rivals.py [speed] [ridge]
"""

from __future__ import annotations

import functools
import os
import sys
import time
from typing import Any

import numpy as np
from problems import yeast
from timing import Bar, Task, fastest, number, print_bars, print_table

from fairx import (
    TS,
    DiscountedRidge,
    Exponential,
    FairXBetaTS,
    FairXGammaTS,
    FairXGradient,
    FairXLinEG,
    FairXLinTS,
    FairXLinUCB,
    FairXTS,
    Floor,
    Groups,
    environments,
    simulate,
)
from fairx.compiled import entry
from fairx.policies import (
    SDTS,
    Boltzmann,
    Chaining,
    DelayedFairXTS,
    DelayedFairXUCB,
    Exp3,
    FairLearn,
    FairSDTS,
    GuaranteedRevenue,
    NashUCB,
)

MERIT, ARMS = Exponential(4), 14
GROUPS = [0] * 7 + [1] * 7
POLICIES: dict[str, Any] = {
    "FairXTS": FairXTS(MERIT, 1, 0.5),
    "FairXBetaTS": FairXBetaTS(MERIT),
    "FairXGammaTS": FairXGammaTS(MERIT),
    "FairXGradient": FairXGradient(steepness=4, rate=0.1),
    "SDTS": SDTS(),
    "FairSDTS": FairSDTS(epsilon=1, delta=0.1),
    "Chaining": Chaining(width=0.3),
    "Chaining, wide": Chaining(width=3.5),
    "FairLearn(TS)": FairLearn(TS(1, 0.5), rates=0.03),
    "GuaranteedRevenue": GuaranteedRevenue(0.002),
    "NashUCB": NashUCB(rounds=50_000, constant=0.03),
    "DelayedFairXUCB": DelayedFairXUCB(MERIT, delta=0.1),
    "DelayedFairXUCB, missing": DelayedFairXUCB(MERIT, delta=0.1, missing=True),
    "DelayedFairXTS": DelayedFairXTS(MERIT),
    "Boltzmann": Boltzmann(temperature=0.1),
    "Exp3": Exp3(gamma=0.03),
    "Floor(FairXTS)": Floor(FairXTS(MERIT, 1, 0.5), share=0.01),
    "Groups(FairXTS)": Groups(FairXTS(MERIT, 1, 0.5), GROUPS, low=(0.3, 0.3), high=(1, 1)),
}
AT_MOST = {"SDTS": 10.0, "FairSDTS": 10.0, "FairXBetaTS": 2.5}  # all others: 5
REWARDS, DIMENSION, DISCOUNT, RIDGE = 2_000_000, 50, 0.99, 1.0


def main() -> None:
    steps = {"speed": run_speed, "ridge": run_ridge}
    for step in sys.argv[1:] or list(steps):
        steps[step]()
    print(f"\nload of the machine at the end: {os.getloadavg()[0]:.1f}")


def run_speed() -> None:
    """Print the processor time of a round of each policy, over that of FairX-TS."""
    world = environments.Bernoulli(yeast().means)

    def play(policy: Any, rounds: int) -> object:
        return simulate(policy, world, MERIT, rounds=rounds, seed=1, jobs=1)

    tasks = {name: Task(functools.partial(play, one), 50_000) for name, one in POLICIES.items()}
    for task in tasks.values():
        task.play(100)  # compiles
    found = fastest(tasks, 15, clock=time.process_time)
    first = found["FairXTS"]
    rows = [[name, number(1e9 * each), number(each / first)] for name, each in found.items()]
    print_table("A round, K = 14: nanoseconds", ("policy", "each", "/ FairXTS"), rows)
    print_bars(
        [
            Bar(f"{name} / FairXTS", each / first, at_most=AT_MOST.get(name, 5.0))
            for name, each in found.items()
            if name != "FairXTS"
        ]
    )


@entry
def teach(policy, state, contexts, rewards, work):  # type: ignore[no-untyped-def]
    """Learn rewards, the contexts in turn."""
    for i in range(len(rewards)):
        policy.absorb(state, 0, contexts[i % len(contexts)], rewards[i], work)


def run_ridge() -> None:
    """Print what is left of the precision after many rewards of contexts of one and two directions."""
    rng, bars = np.random.default_rng(1), []
    rewards = rng.random(REWARDS)
    for within in (
        FairXLinUCB(MERIT, 0.1, RIDGE),
        FairXLinTS(MERIT, 1, RIDGE),
        FairXLinEG(MERIT, 0.1, RIDGE),
    ):
        for directions in (1, 2):
            basis = rng.normal(size=(directions, DIMENSION))
            contexts = rng.normal(size=(1_000, directions)) @ basis
            state = _taught(DiscountedRidge(within, DISCOUNT), contexts, rewards)
            least = float(np.linalg.eigvalsh(state.precision).min())
            inverse = state.factor.T @ np.diag(state.scales) @ state.factor
            error = float(np.abs(inverse @ state.precision - np.eye(DIMENSION)).max())
            np.linalg.cholesky(state.precision)
            name = f"{type(within).__name__}, {directions} direction{'s' * (directions - 1)}"
            print(
                f"  {name}: least eigenvalue {least:.3f} ridge, inverse to {error:.1e}", flush=True
            )
            bars.append(Bar(f"{name}: least eigenvalue / ridge", least / RIDGE, at_least=0.5))
    print_bars(bars)


def _taught(policy: Any, contexts: Any, rewards: Any) -> Any:
    state, work = policy.start(1, DIMENSION), np.empty(policy.needs(1, DIMENSION)[1])
    few = rewards[:0]
    run, low = teach.ready((policy,), lambda run, low: run(*low, state, contexts, few, work))
    run(*low, state, contexts, rewards, work)
    return state.inner


if __name__ == "__main__":
    main()
