"""Time a round of FairX-UCB with each interval, and beside FairX-TS, side by side in one run.

python benchmarks/intervals.py [--rounds 100000] [--passes 60]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from problems import Floats, yeast
from timing import Bar, Task, fastest, number, print_bars, print_table

import fairx
from fairx import environments

MOST = 3.0  # times Hoeffding's
MANY = 101  # arms, as mediamill has


def timed(policies: dict[str, Any], means: Floats, merit: Any, options: Any) -> dict[str, float]:
    """Return the nanoseconds per round of each policy; what is compiled is compiled before."""
    world = environments.Bernoulli(means)
    tasks = {}
    for name, policy in policies.items():

        def play(rounds: int, policy: Any = policy) -> None:
            fairx.simulate(policy, world, merit, rounds=rounds, seed=1, jobs=1, checkpoints=1)

        play(16)
        tasks[name] = Task(play, options.rounds)
    found = fastest(tasks, options.passes, time.process_time)  # on a busy machine too
    return {name: 1e9 * each for name, each in found.items()}


def print_intervals(options: Any) -> None:
    """Print the time of each interval, at a tuned width and at that of the theorems."""
    means, merit = yeast().means, fairx.Exponential(4)
    rows, bars = [], []
    for width in (0.1, 3.1):
        known = {"bounds": (0, 1)}
        policies = {
            "hoeffding": fairx.FairXUCB(merit, width),
            "hoeffding, clipped": fairx.FairXUCB(merit, width, **known),
            "bernstein": fairx.FairXUCB(merit, width, interval="bernstein", **known),
            "kl": fairx.FairXUCB(merit, width, interval="kl", **known),
        }
        found = timed(policies, means, merit, options)
        for name, each in found.items():
            ratio = each / found["hoeffding"]
            rows.append([name, f"{width:g}", number(each), number(ratio)])
            if name in ("bernstein", "kl"):
                bars.append(Bar(f"{name} / hoeffding, width {width:g}", ratio, at_most=MOST))
    title = f"FairXUCB by interval (K=14, merit exp(4 m), {options.rounds:,} rounds)"
    print_table(title, ("interval", "width", "nanoseconds per round", "/ hoeffding"), rows)
    print_bars(bars)


def print_families(options: Any) -> None:
    """Print the time of FairX-UCB beside that of FairX-TS, for few arms and for many."""
    merit, rows, bars = fairx.Exponential(10), [], []
    for means in (yeast().means, 0.75 / np.arange(1, MANY + 1)):
        policies = {
            "FairXUCB, exact": fairx.FairXUCB(merit, 0.1),
            "FairXUCB, 10 gradient steps": fairx.FairXUCB(merit, 0.1, "gradient"),
            "FairXTS": fairx.FairXTS(merit, 1.0, 0.5),
        }
        found = timed(policies, means, merit, options)
        for name, each in found.items():
            ratio = number(each / found["FairXTS"])
            rows.append([name, str(means.size), number(each), ratio])
        if means.size == MANY:
            ratio_of_exact = found["FairXUCB, exact"] / found["FairXTS"]
            bars.append(Bar(f"FairXUCB, exact / FairXTS, K={MANY}", ratio_of_exact, at_most=1))
    title = f"FairX-UCB and FairX-TS (merit exp(10 m), {options.rounds:,} rounds)"
    print_table(title, ("policy", "arms", "nanoseconds per round", "/ FairXTS"), rows)
    print_bars(bars)


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--passes", type=int, default=60)
    options = parser.parse_args()
    print_intervals(options)
    print_families(options)


if __name__ == "__main__":
    main()
