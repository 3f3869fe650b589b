"""Measure what the first run costs where nothing is compiled yet, in processor time.

    python benchmarks/cold.py [--against TREE] [--passes 3]

Each number is the least of several fresh processes with empty directories for compiled code. With
`--against`, another checkout is measured too, in turn with this one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import Bar, number, print_bars, print_table

TREE = Path(__file__).parents[1]
POLICIES = {
    "FairXLinUCB": "merit, 0.1, 1.0",
    "FairXLinTS": "merit, 1.0, 0.5",
    "FairXLinEG": "merit, 0.1, 1.0",
    "FairXUCB": "merit, 0.1",
    "FairXTS": "merit, 1.0, 0.5",
    "FairXEG": "merit, 0.1",
    "LinUCB": "0.1, 1.0",
    "LinTS": "1.0, 0.5",
    "LinEG": "0.1, 1.0",
    "UCB": "0.1",
    "TS": "1.0, 0.5",
    "EG": "0.1",
}
# The import of Numba is not part of it: it takes 0.2 s, warm or cold.
START = """
import time
import numpy as np
import fairx
from fairx import environments
from fairx.compiled import load

load()
merit = fairx.Exponential(4)
contexts = np.abs(np.random.default_rng(0).normal(size=(5, 4, 3)))
linear = environments.Linear(contexts, parameter=[0.1, 0.2, 0.3])
start = time.process_time()
"""
PLAY = "fairx.simulate(fairx.{0}({1}), {2}, merit, rounds=16, seed=1, jobs=1)\n"
ACT = "fairx.Bandit(fairx.{0}({1}), arms=4, dimension=3, seed=1).act(contexts[0])\n"
END = "print(time.process_time() - start)\n"


def play(name: str) -> str:
    """Return the code that simulates a policy."""
    world = "linear" if "Lin" in name else "environments.Bernoulli([0.2, 0.5])"
    return PLAY.format(name, POLICIES[name], world)


def cases() -> dict[str, str]:
    """Return the code of all there is to measure."""
    return {
        **{name: play(name) for name in POLICIES},
        "all twelve, in one process": "".join(map(play, POLICIES)),
        "Bandit.act with contexts, FairXLinUCB": ACT.format("FairXLinUCB", POLICIES["FairXLinUCB"]),
    }


def cold(tree: Path, code: str) -> float:
    """Return the processor time of a fresh process with nothing compiled."""
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(
            [sys.executable, "-c", START + code + END],
            env=os.environ | {"FAIRX_CACHE": directory, "PYTHONPATH": str(tree / "src")},
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    return float(done.stdout)


def least(trees: list[Path], passes: int) -> dict[str, list[float]]:
    """Return the seconds of each case for each tree, which take turns."""
    found = {name: [float("inf")] * len(trees) for name in cases()}
    for _ in range(passes):
        for name, code in cases().items():
            for i, tree in enumerate(trees):
                found[name][i] = min(found[name][i], cold(tree, code))
    return found


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    parser.add_argument("--passes", type=int, default=3)
    options = parser.parse_args()
    trees = [TREE] if options.against is None else [TREE, options.against]
    found = least(trees, options.passes)
    headers = ("what", "this", "other", "this / other")[: 2 * len(trees)]
    rows = [
        [name, *map(number, seconds), *([number(seconds[0] / seconds[1])] if seconds[1:] else [])]
        for name, seconds in found.items()
    ]
    print_table("Cold compilation: seconds of processor time", headers, rows)
    promised = ("FairXLinUCB", "all twelve, in one process") if options.against else ()
    ratios = {name: found[name][0] / found[name][1] for name in promised}
    print_bars([Bar(name, ratio, at_most=0.5) for name, ratio in ratios.items()])


if __name__ == "__main__":
    main()
