"""Pictures and tables of what was measured: rounds, decisions and rows against what they grow with.

The numbers are those of benchmarks/scale.json, which `benchmarks/scale.py` wrote.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .svg import WIDTH, Frame, Scale, across, below, dot, legend, line, picture, text

KEPT = Path(__file__).parents[2] / "benchmarks" / "scale.json"
RATES = "a second of processor time"
KINDS = ("fair", "winner", "blue")
AGAINST = {
    "arms": ("rounds a second, by arms", "arms"),
    "dimension": ("rounds a second with contexts, 14 arms, by dimension", "dimension"),
    "replicas": ("rounds a second of all runs together, 14 arms, by runs", "runs"),
    "cores": ("rounds a second of processor time, 8 runs, by jobs", "jobs"),
    "processes": ("decisions a second of processor time, by processes", "processes"),
    "audit": ("audited rows a second, 1,000 arms, by rows", "rows"),
}


def measured() -> dict[str, Any]:
    """Return what is kept."""
    found: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return found


def scale() -> str:
    """Draw rounds a second against the number of arms, each measured by processor time."""
    curves = measured()["arms"][RATES]
    frame = Frame(Scale(14, 1e6, 60, WIDTH - 16, True), Scale(1e3, 2e7, 200, 28, True))
    ticks = {1e3: "1,000", 1e4: "10,000", 1e5: "100,000", 1e6: "1 M", 1e7: "10 M"}
    parts = [text(60, 14, "rounds a second of one core, by arms", kind="strong")]
    parts.append(across(frame, ticks))
    for (_, curve), kind in zip(curves.items(), KINDS, strict=True):
        xs, ys = [float(at) for at in curve], list(curve.values())
        parts.append(line(frame, xs, ys, kind))
        parts += [dot(frame.x(x), frame.y(y), kind, 3) for x, y in zip(xs, ys, strict=True)]
    marks = {14.0: "14", 1e3: "1,000", 1e5: "100,000", 1e6: "1 M"}
    parts.append(below(frame, marks, "arms, both regrets included"))
    parts.append(legend(dict(zip(curves, KINDS, strict=True)), 74, 150))
    title = "Rounds a second against the number of arms: those of FairX-EG and FairX-UCB stay near a million"
    return picture(title, 244, *parts)


def table(name: str) -> str:
    """Return a table of docs/scale.md: what it is against, and how many a second."""
    curves = measured()[name][RATES]
    marks = list(next(iter(curves.values())))
    head = f"| {AGAINST[name][1]} | " + " | ".join(f"{float(mark):,.0f}" for mark in marks) + " |"
    rows = [
        f"| {what} | " + " | ".join(shown(curve.get(mark)) for mark in marks) + " |"
        for what, curve in curves.items()
    ]
    return "\n".join([head, "| --- |" + " ---: |" * len(marks), *rows])


def shown(value: float | None) -> str:
    """Return a rate in thousands or millions, with about three digits; nothing where there is none.

    Examples
    --------
    >>> shown(12_345_678.0), shown(2_345.0), shown(345.0)
    ('12.3 M', '2.35 k', '345')
    """
    if value is None:
        return ""
    for size, name in ((1e6, " M"), (1e3, " k"), (1.0, "")):
        if value >= size:
            return f"{float(f'{value / size:.3g}'):g}{name}"
    return f"{value:.3g}"
