"""What a fresh Python pays: the import, the first simulation, and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from timing import number, print_table

IMPORT = """
import time
start = time.perf_counter()
import fairx
from fairx import environments
print(time.perf_counter() - start)
"""
SIMULATE = """
import time
import fairx
from fairx import environments
start = time.perf_counter()
merit = fairx.Exponential(10)
world = environments.Bernoulli([i / {arms} for i in range({arms})])
policy = fairx.FairXTS(merit, 1.0, 0.5)
fairx.simulate(policy, world, merit, rounds={rounds}, runs={runs}, seed=1)
print({measure})
"""
SECONDS = "time.perf_counter() - start"
# Not getrusage: its ru_maxrss also counts the process that this one was started from.
KILOBYTES = "open('/proc/self/status').read().split('VmHWM:')[1].split()[0]"


def run_start(rounds: int, passes: int) -> None:
    """Print the seconds and megabytes of fresh processes."""
    short = SIMULATE.format(arms=14, rounds=1000, runs=1, measure=SECONDS)
    fresh(short)  # fills the disk cache
    long = SIMULATE.format(arms=101, rounds=rounds, runs=10, measure=KILOBYTES)
    empty = SIMULATE.format(arms=101, rounds=16, runs=1, measure=KILOBYTES)
    imported = f"{IMPORT}print({KILOBYTES})"
    rows = [
        ["import fairx", number(least(IMPORT, passes)), "s"],
        ["first simulate, warm disk cache", number(least(short, passes)), "s"],
        ["first simulate, cold disk cache", number(min(cold(short) for _ in range(passes))), "s"],
        ["peak memory after the import alone", number(fresh(imported) / 1024), "MB"],
        ["peak memory, 1 run of 16 rounds, K=101", number(fresh(empty) / 1024), "MB"],
        [f"peak memory, 10 runs of {rounds:,} rounds, K=101", number(fresh(long) / 1024), "MB"],
    ]
    print_table("Fresh processes (FairXTS)", ("what", "least", "unit"), rows)


def least(code: str, passes: int) -> float:
    return min(fresh(code) for _ in range(passes))


def cold(code: str) -> float:
    """Run with an empty directory for compiled code."""
    with tempfile.TemporaryDirectory() as directory:
        return fresh(code, FAIRX_CACHE=directory)


def fresh(code: str, **variables: str) -> float:
    """Run `code` in a new interpreter and return the last number it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | variables,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return float(done.stdout.split()[-1])
