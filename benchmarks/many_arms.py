"""Rounds among many arms: in a tree and, up to a thousand, in a row; both regrets included.

    python benchmarks/many_arms.py [--arms 100 1000 10000 100000] [--rounds 1000000]

Processor time a round after the first pulls: what a longer run takes more than a shorter one.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from fairx import Exponential, FairXEG, FairXUCB, OptimalFair, Uniform, simulate
from fairx.environments import Bernoulli
from fairx.simulation import catalogue_run

MERIT = Exponential(4.0)
IN_A_ROW = 1000  # up to so many arms


def nanoseconds(policy: Any, world: Any, start: int, rounds: int) -> float:
    """Return the processor time of a round, in the better one of two passes."""
    played: Any = {"seed": 1, "checkpoints": 1, "jobs": 1}
    simulate(policy, world, MERIT, rounds=16, **played)
    times = []
    for _ in range(2):
        begun = time.process_time()
        simulate(policy, world, MERIT, rounds=start, **played)
        between = time.process_time()
        simulate(policy, world, MERIT, rounds=start + rounds, **played)
        times.append(time.process_time() - 2 * between + begun)
    return min(times) / rounds * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=1_000_000)
    options = parser.parse_args()
    print(f"{'ns a round':12} {'arms':>8} {'tree':>8} {'row':>8}")
    for arms in options.arms:
        world = Bernoulli(np.random.default_rng(1).uniform(size=arms))
        policies = {
            "FairX-EG": FairXEG(MERIT, 0.1),
            "FairX-UCB": FairXUCB(MERIT, 0.5),
            "OptimalFair": OptimalFair(MERIT, world.means),
            "Uniform": Uniform(),
        }
        for name, policy in policies.items():
            vars(catalogue_run)["MANY"] = 2
            tree = nanoseconds(policy, world, arms + 16, options.rounds)
            vars(catalogue_run)["MANY"] = 10**9
            shorter = max(1000, options.rounds // arms)
            row = nanoseconds(policy, world, arms + 16, shorter) if arms <= IN_A_ROW else np.nan
            print(f"{name:12} {arms:8} {tree:8.0f} {row:8.0f}", flush=True)


if __name__ == "__main__":
    main()
