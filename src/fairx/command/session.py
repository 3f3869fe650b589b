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
from typing import Any

import fairx

FILE, CAP_FILE = "sessions.jsonl", "decide.json"


def noted(out: Path, options: argparse.Namespace, runs: int, started: float) -> None:
    """Note that this command played some runs in this folder."""
    where = f"Dask at {options.cluster}" if options.cluster else _machine(options.jobs)
    _note(out, runs, started, {"seconds": round(time.time() - started, 1), "where": where})


def bring(out: Path, folders: list[Path], rows: Any) -> None:
    """Take in the runs of other folders, and note where they are from."""
    for folder in folders:
        told = "; ".join(_words(one) for one in _sessions(folder))
        words = f"brought from {folder}" + (f", where there was: {told}" if told else "")
        _note(out, rows.join(folder / "rows"), time.time(), {"brought": words})


def _note(out: Path, runs: int, started: float, how: Mapping[str, Any]) -> None:
    session = {
        "command": shlex.join(["fairx", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime(started)),
        "runs": runs,
        **how,
    }
    if runs:
        with (out / FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(session) + "\n")


def _sessions(out: Path) -> list[dict[str, Any]]:
    path = out / FILE
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines]


def keep_cap(out: Path, cap: int | None) -> None:
    """Note the cap of --decide, and refuse another one in the same folder."""
    path = out / CAP_FILE
    if cap is None:
        return
    before = json.loads(path.read_text("utf-8"))["cap"] if path.exists() else cap
    if before != cap:
        raise ValueError(
            f"--decide must be {before} in {out}, not {cap}: its claims were looked at with that cap, and to "
            "try another is to look more often than the intervals allow; another --seed is a test of its own"
        )
    path.write_text(json.dumps({"cap": cap}) + "\n", "utf-8")


def about(out: Path, absent: Mapping[str, str], runs: Mapping[str, int]) -> dict[str, str]:
    """Return what the head of a report says; `runs` has "all", those that "tune" and the "tests"."""
    sessions = _sessions(out)
    found = {f"session {i}": _words(one) for i, one in enumerate(sessions, 1)}
    left_out = {f"{name}, left out": reason for name, reason in absent.items()}
    accounts = _accounts(runs, sum(one["runs"] for one in sessions))
    return {"made with": f"fairx {fairx.__version__}", "runs": accounts, **found, **left_out}


def _words(session: Mapping[str, Any]) -> str:
    """Return one session in words."""
    if "brought" in session:
        how = session["brought"]
    else:
        how = f"in {session['seconds'] / 60:.1f} minutes on {session['where']}"
    return f"{session['date']}: {session['command']} ({session['runs']:,} runs {how})"


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
