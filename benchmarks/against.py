"""Rounds of this fairx beside those of other sources, turn by turn, by processor time.

    git worktree add /tmp/before b8ab44c
    python benchmarks/against.py /tmp/before/src [--turns 5] [--rounds 1000000]

Yeast without contexts, 14 arms, one run. Each turn is a process of its own for each of the two, and the
least of all turns counts, so that a machine that is busy for a while is busy for both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1] / "src"


def times(rounds: int) -> dict[str, float]:
    """Return nanoseconds a round, the least of three passes."""
    import fairx
    from fairx import environments, simulate

    merit = fairx.Exponential(4.0)
    world = environments.Bernoulli([0.02 + 0.03 * i for i in range(14)])
    policies: dict[str, Any] = {
        "FairX-UCB": fairx.FairXUCB(merit, 0.1),
        "FairX-UCB, gradient": fairx.FairXUCB(merit, 0.1, solver="gradient"),
        "FairX-TS": fairx.FairXTS(merit, 1.0, 0.5),
        "FairX-EG": fairx.FairXEG(merit, 0.05),
        "UCB": fairx.UCB(0.1),
        "TS": fairx.TS(1.0, 0.5),
        "EG": fairx.EG(0.05),
    }
    found = dict.fromkeys(policies, float("inf"))
    for _ in range(4):  # the first compiles, and is the slowest
        for name, policy in policies.items():
            begun = time.process_time()
            simulate(policy, world, merit, rounds=rounds, seed=1, jobs=1)
            found[name] = min(found[name], (time.process_time() - begun) / rounds * 1e9)
    return found


def turn(sources: Path, rounds: int) -> dict[str, float]:
    """Return the times of the fairx in a folder, in a process of its own."""
    command = [sys.executable, __file__, str(sources), "--rounds", str(rounds), "--one-turn"]
    environment = os.environ | {"PYTHONPATH": str(sources)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sources", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1_000_000)
    parser.add_argument("--one-turn", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not (
        options.sources / "fairx"
    ).is_dir():  # the one that is installed would play in its place
        parser.error(f"{options.sources} must be a folder with fairx in it, such as CHECKOUT/src")
    if options.one_turn:
        print(json.dumps(times(options.rounds)))
        return
    turns = [
        (turn(options.sources, options.rounds), turn(HERE, options.rounds))
        for _ in range(options.turns)
    ]
    print(f"{'ns a round':22} {'before':>8} {'now':>8} {'now / before':>13}")
    for name in turns[0][0]:
        before, now = (min(each[i][name] for each in turns) for i in range(2))
        print(f"{name:22} {before:8.1f} {now:8.1f} {now / before:13.2f}")


if __name__ == "__main__":
    main()
