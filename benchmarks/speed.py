"""Measure the speed of fairx against plain C, plain NumPy and other libraries, in one run.

    python benchmarks/speed.py [--quick] [--only agreement|mab|linear|peers|cores|start]

Times are the least of several passes over everything; compile time is excluded but for "start".
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Callable
from pathlib import Path

import c_program
import numpy as np
from agreement import run_agreement
from cores import run_cores
from loops import run_bandits, run_linear
from peers import run_peers
from start import run_start

import fairx

ROUNDS, LINEAR_ROUNDS = 2_000_000, 100_000


def sections(shrink: int, passes: int) -> dict[str, Callable[[], None]]:
    """Return all that can be measured, with a `shrink`th of the rounds."""
    return {
        "agreement": lambda: run_agreement(1000, max(20, 100 // shrink)),
        "mab": lambda: run_bandits(ROUNDS // shrink, passes),
        "linear": lambda: run_linear(LINEAR_ROUNDS // shrink, passes),
        "peers": lambda: run_peers(shrink, passes),
        "cores": lambda: run_cores(ROUNDS // shrink, passes),
        "start": lambda: run_start(ROUNDS // shrink, passes),
    }


def machine() -> str:
    """Return the processor, and what everything was built with."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor()
    built = f"Python {platform.python_version()}, NumPy {np.__version__}, {c_program.compiler()}"
    return f"fairx {fairx.__version__} on {os.cpu_count()} cores of {processor}; {built}"


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="play a tenth of the rounds")
    parser.add_argument("--only", choices=sections(1, 1), help="measure one section")
    options = parser.parse_args()
    shrink, passes = (10, 3) if options.quick else (1, 5)
    print(machine())
    for name, run in sections(shrink, passes).items():
        if options.only in (None, name):
            run()


if __name__ == "__main__":
    main()
