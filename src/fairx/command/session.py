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


def about(out: Path, absent: Mapping[str, str]) -> dict[str, str]:
    """Return what the head of a report says."""
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
    return {"made with": f"fairx {fairx.__version__}", **found, **left_out}


def _machine(jobs: int) -> str:
    return f"{_processor()}, {jobs} jobs, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
