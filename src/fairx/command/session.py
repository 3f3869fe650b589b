"""What a report says of how its numbers were made: noted by each command, never by hand."""

from __future__ import annotations

import argparse
import json
import math
import platform
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fairx

FILE, CAP_FILE = "sessions.jsonl", "decide.json"


def begin(out: Path, options: argparse.Namespace, there: int) -> None:
    """Note that this command begins to play, and how many runs there are: it may be killed."""
    if not options.report_only:
        _note(out, time.time(), {"begun": there, "where": _where(options)})


def noted(out: Path, options: argparse.Namespace, runs: int, started: float) -> None:
    """Note that this command played some runs in this folder."""
    how = {"seconds": round(time.time() - started, 1), "where": _where(options)}
    if runs:
        _note(out, started, {"runs": runs, **how})


def bring(out: Path, folders: list[Path], rows: Any) -> None:
    """Take in the runs of other folders, and note where they are from."""
    for folder in folders:
        told = "; ".join(_words(one) for one in _sessions(folder))
        words = f"brought from {folder}" + (f", where there was: {told}" if told else "")
        if runs := rows.join(folder / "rows"):
            _note(out, time.time(), {"runs": runs, "brought": words})


def _note(out: Path, started: float, how: Mapping[str, Any]) -> None:
    session = {
        "command": shlex.join(["fairx", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d", time.gmtime(started)),
        **how,
    }
    with (out / FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(session) + "\n")


def _sessions(out: Path, there: int = 0) -> list[dict[str, Any]]:
    """Return all sessions, where `there` runs are there now.

    A session added what the next one found more: so a kill, or an interruption between a file and its
    count, loses no run.
    """
    path = out / FILE
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    found: list[dict[str, Any]] = []
    latest: dict[str, Any] = {}
    for one in [*map(json.loads, lines), {"begun": there}]:
        if "begun" in one:
            added = max(one["begun"] - latest.get("begun", math.inf), latest.get("runs", 0))
            if added > 0:
                found.append({**latest, "runs": added})
            latest = one
        elif "begun" in latest and "brought" not in one:
            latest = {**latest, **one}
        else:
            found.append(one)
            latest = {**latest, "begun": latest["begun"] + one["runs"]} if latest else {}
    return found


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
    sessions = _sessions(out, runs["all"])
    found = {f"session {i}": _words(one) for i, one in enumerate(sessions, 1)}
    left_out = {f"{name}, left out": reason for name, reason in absent.items()}
    accounts = _accounts(runs, sum(one["runs"] for one in sessions))
    return {"made with": f"fairx {fairx.__version__}", "runs": accounts, **found, **left_out}


def _words(session: Mapping[str, Any]) -> str:
    """Return one session in words."""
    if "brought" in session:
        how = session["brought"]
    elif "seconds" in session:
        how = f"in {session['seconds'] / 60:.1f} minutes on {session['where']}"
    else:
        how = f"on {session['where']}, and was killed"
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


def _where(options: argparse.Namespace) -> str:
    if options.cluster:
        return f"Dask at {options.cluster}"
    jobs = "a GPU" if options.device == "cuda" else f"{options.jobs} jobs"
    return f"{_processor()}, {jobs}, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
