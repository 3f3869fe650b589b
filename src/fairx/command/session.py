"""What a report says of how its numbers were made: noted by each command, never by hand."""

from __future__ import annotations

import argparse
import json
import platform
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import fairx

FILE = "sessions.jsonl"


def noted(out: Path, options: argparse.Namespace, runs: int, started: float) -> None:
    """Note that this command played some runs in this folder."""
    session = {
        "command": shlex.join(["fairx", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime(started)),
        "runs": runs,
        "seconds": round(time.time() - started, 1),
        "where": f"Dask at {options.cluster}" if options.cluster else _machine(options.jobs),
    }
    if runs:
        with (out / FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(session) + "\n")


def about(out: Path, absent: Mapping[str, str], runs: Mapping[str, int]) -> dict[str, str]:
    """Return what the head of a report says; `runs` has "all", those that "tune" and the "tests"."""
    path = out / FILE
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    sessions = [json.loads(line) for line in lines]
    found = {
        f"session {i}": (
            f"{one['date']}: {one['command']} ({one['runs']:,} runs in "
            f"{one['seconds'] / 60:.1f} minutes on {one['where']})"
        )
        for i, one in enumerate(sessions, 1)
    }
    left_out = {f"{name}, left out": reason for name, reason in absent.items()}
    accounts = _accounts(runs, sum(one["runs"] for one in sessions))
    return {"made with": f"fairx {fairx.__version__}", "runs": accounts, **found, **left_out}


def _accounts(runs: Mapping[str, int], told: int) -> str:
    """Return what became of every run in the folder, in words.

    Examples
    --------
    >>> _accounts({"all": 130, "tune": 100, "tests": 20}, told=120)
    '130 in this folder: 100 that tune and 20 that test are in this report, 10 are not (of other \
figures, settings or versions); 10 are of commands that were killed, or of Python'
    """
    other, untold = runs["all"] - runs["tune"] - runs["tests"], runs["all"] - told
    words = f"{runs['all']:,} in this folder: {runs['tune']:,} that tune and {runs['tests']:,} that test are in this report"
    if other:
        words += f", {other:,} are not (of other figures, settings or versions)"
    if untold > 0:
        words += f"; {untold:,} are of commands that were killed, or of Python"
    return words + (f"; {-untold:,} more were played and are gone" if untold < 0 else "")


def _machine(jobs: int) -> str:
    return f"{_processor()}, {jobs} jobs, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
