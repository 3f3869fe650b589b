"""The figures of pseudo-rewards: each arm beside the others, and over time."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FormatStrFormatter, NullLocator

from fairx.pictures import new_figure

from .figures import COLOURS, FEW, WIDE, concise, dot, named_rows, tidy
from .result import Audit, Beside

FOLLOWED = 4  # arms over time, one above the other
RATIOS = (0.0625, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0)
SOME_RATIOS = (0.0625, 0.25, 1.0, 4.0, 16.0)  # on a low axis of more than NARROW: all would overlap
NARROW = 6.0
FARTHEST = 16.0  # ratios beyond are drawn at the edge


def beside_figure(audit: Audit) -> Figure:
    """Draw what each arm had beside the others, with its interval: those farthest from 1 on top."""
    pairs = list(zip(audit.lines, audit.beside, strict=True))
    chosen = sorted(pairs, key=lambda pair: _far(pair[1]))[-FEW:]
    figure = new_figure(WIDE, 1.5 + 0.3 * len(chosen))
    axis = figure.subplots()
    axis.axvline(1.0, color="#000000", lw=1, ls="--")
    for row, (line, one) in enumerate(chosen):
        low, high = _within(one.beside_low, 0.0), _within(one.beside_high, math.inf)
        axis.plot([low, high], [row, row], color=COLOURS[line.verdict], lw=2.5)
        axis.plot(_within(one.beside, 1.0), row, "o", color=COLOURS[line.verdict], ms=6)
    named_rows(axis, [line.arm for line, _ in chosen])
    _scaled(axis.xaxis, axis.set_xscale)
    axis.set_xlabel("times what its rewards earn, beside the others")
    marks = [dot(verdict, COLOURS[verdict]) for verdict in _verdicts(audit)]
    fair = Line2D([], [], color="#000000", lw=1, ls="--", label="as its rewards earn")
    figure.legend(handles=[*marks, fair], loc="outside upper center", ncols=3, frameon=False)
    tidy(axis)
    return figure


def course_figure(audit: Audit) -> Figure:
    """Draw the arms with the strongest evidence over time, each with its always-valid interval."""
    chosen = audit.courses[:FOLLOWED]
    figure = new_figure(WIDE, 0.9 + 1.5 * len(chosen))
    axes = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
    known = {line.arm: line.verdict for line in audit.lines}
    timed = audit.start is not None and audit.start != audit.stop
    for axis, course in zip(axes, chosen, strict=True):
        across: list[object] = list(course.times if timed else course.decisions)
        if timed and audit.dated:
            across = [datetime.fromtimestamp(time, UTC) for time in course.times]
        low, middle, high = (
            [_within(one, other) for one in part]
            for part, other in ((course.low, 0.0), (course.beside, 1.0), (course.high, math.inf))
        )
        colour = COLOURS[known[course.arm]]
        axis.fill_between(across, low, high, color=colour, alpha=0.25, lw=0)
        axis.plot(across, middle, color=colour)
        axis.axhline(1.0, color="#000000", lw=1, ls="--")
        axis.set_title(str(course.arm)[:60], loc="left", fontsize="medium", parse_math=False)
        narrow = max(high) <= NARROW * min(low)
        _scaled(axis.yaxis, axis.set_yscale, RATIOS if narrow else SOME_RATIOS)
        tidy(axis)
    if timed and audit.dated:
        concise(axes[-1])
    axes[-1].set_xlabel(("time, UTC" if audit.dated else "time") if timed else "decisions")
    _explain(figure)
    return figure


def _explain(figure: Figure) -> None:
    grey = COLOURS["unclear"]
    handles = [
        Line2D([], [], color=grey, label="estimate"),
        Line2D([], [], color=grey, lw=7, alpha=0.4, label="always-valid interval"),
        Line2D([], [], color="#000000", lw=1, ls="--", label="as its rewards earn"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)


def _verdicts(audit: Audit) -> list[str]:
    return [name for name in COLOURS if any(line.verdict == name for line in audit.lines)]


def _far(one: Beside) -> float:
    """Return how far from 1 the nearer end of the interval is, as a logarithm; below 0 where it holds 1."""
    low, high = _within(one.beside_low, 0.0), _within(one.beside_high, math.inf)
    return max(math.log(low), -math.log(high))


def _within(value: float | None, unknown: float) -> float:
    """Return a ratio, or what stands for one that is not known, brought to where it can be drawn."""
    return min(max(unknown if value is None else value, 1 / FARTHEST), FARTHEST)


def _scaled(axis: object, scale: object, ratios: tuple[float, ...] = RATIOS) -> None:
    """Make an axis of ratios logarithmic, with plain numbers at these."""
    scale("log")  # type: ignore[operator]
    axis.set_major_locator(FixedLocator(ratios))  # type: ignore[attr-defined]
    axis.set_minor_locator(NullLocator())  # type: ignore[attr-defined]
    axis.set_major_formatter(FormatStrFormatter("%g"))  # type: ignore[attr-defined]
