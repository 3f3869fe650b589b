"""The figures of an audit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fairx.pictures import OPTIMAL, Style, new_figure
from fairx.texts import shortened

from .lines import POWERS
from .result import Audit
from .tables import curves

WIDE = 5.2  # inches: words can be read on a phone
FEW = 50  # arms that can have a row each
LONGEST = 24  # letters of a name
MANY = 2000  # dots that make an image smaller than as many shapes
COLOURS = {
    "under": "#D55E00",
    "over": "#0072B2",
    "fair": "#009E73",
    "unclear": "#999999",
}  # Okabe and Ito's
SHOWN = Style("#0072B2")


def exposure_figure(audit: Audit) -> Figure:
    """Draw exposure beside fair share and its boxes: a row for each arm, or a dot for many."""
    if len(audit.lines) <= FEW:
        figure = new_figure(WIDE, 1.9 + 0.3 * len(audit.lines))
        _draw_rows(figure.subplots(), audit)
        _explain(figure, audit)
    else:
        figure = new_figure(WIDE, 4.8)
        _draw_dots(figure.subplots(), audit)
    return figure


def _draw_rows(axis: Axes, audit: Audit) -> None:
    order = np.argsort([-line.fair_share for line in audit.lines], kind="stable")[::-1]
    for row, i in enumerate(order.tolist()):
        line, arm = audit.lines[i], audit.arms[i]
        axis.plot([line.fair_low, line.fair_high], [row, row], color="#BBBBBB", lw=7)
        if arm.delta_low is not None:
            axis.plot([arm.delta_low, arm.delta_high], [row, row], color="#555555", lw=2)
        axis.plot(line.fair_share, row, "|", color=OPTIMAL.colour, ms=11)
        axis.plot(line.exposure, row, "o", color=COLOURS[line.verdict], ms=6)
    named_rows(axis, [audit.lines[i].arm for i in order.tolist()])
    axis.set(xlabel="share of decisions", xlim=(0, None))
    tidy(axis)


def named_rows(axis: Axes, names: list[Any]) -> None:
    """Name the rows of a figure, the first at the bottom."""
    axis.set_yticks(range(len(names)), [shortened(str(name), LONGEST) for name in names])
    for label in axis.get_yticklabels():
        label.set_parse_math(False)  # a dollar in a name is a dollar
    axis.set_ylim(-0.7, len(names) - 0.3)


def dot(label: str, colour: str) -> Line2D:
    """Return a mark for a legend."""
    return Line2D([], [], color=colour, marker="o", ms=6, ls="", label=label)


def _explain(figure: Figure, audit: Audit) -> None:
    """Say what each mark is."""
    there = [name for name in COLOURS if any(line.verdict == name for line in audit.lines)]
    handles = [
        *(dot(f"exposure: {name}", COLOURS[name]) for name in there),
        Line2D([], [], color=OPTIMAL.colour, marker="|", ms=11, ls="", label="fair share"),
        Line2D([], [], color="#555555", lw=2, label="one arm, one look"),
        Line2D([], [], color="#BBBBBB", lw=7, label="at all times"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)


def _draw_dots(axis: Axes, audit: Audit) -> None:
    """Draw the accused last, on top of the others."""
    least = 0.1 / audit.decisions  # where arms that were never shown are drawn
    ends: list[float] = []
    for verdict, colour in reversed(COLOURS.items()):
        if not any(line.verdict == verdict for line in audit.lines):
            continue
        some = [line for line in audit.lines if line.verdict == verdict]
        fair = np.maximum([line.fair_share for line in some], least)
        shown = np.maximum([line.exposure for line in some], least)
        label = f"{verdict}: {len(some):,}"
        axis.plot(fair, shown, ".", color=colour, ms=5, label=label, rasterized=len(some) > MANY)
        ends += [*fair, *shown]
    axis.plot([min(ends), max(ends)], [min(ends), max(ends)], color=OPTIMAL.colour, lw=1, ls="--")
    axis.set(xscale="log", yscale="log", xlabel="fair share", ylabel="exposure")
    axis.legend(frameon=False)
    tidy(axis)


def lorenz_figure(audit: Audit) -> Figure:
    """Draw the Lorenz curve of exposure beside that of the fair share."""
    figure = new_figure(WIDE, 4)
    axis, found = figure.subplots(), curves(audit)
    axis.plot([0, 1], [0, 1], color="#BBBBBB", lw=1)
    for name, style, gini in (
        ("fair_share", OPTIMAL, audit.gini_fair_share),
        ("exposure", SHOWN, audit.gini_exposure),
    ):
        label = f"{name.replace('_', ' ')}: Gini {gini:.3f}"
        axis.plot(found["arms"], found[name], color=style.colour, label=label)
    axis.set(xlabel="share of arms, the least shown first", ylabel="share of exposure")
    axis.legend(frameon=False)
    tidy(axis)
    return figure


def time_figure(audit: Audit) -> Figure:
    """Draw the fairness regret per decision over time."""
    figure = new_figure(WIDE, 3)
    axis, moments = figure.subplots(), audit.over_time
    edges = [moment.start for moment in moments] + [moments[-1].stop]
    times = [datetime.fromtimestamp(edge, UTC) for edge in edges] if audit.dated else edges
    values = [moment.fairness_regret_per_decision for moment in moments]
    axis.plot(times, [*values, values[-1]], color=SHOWN.colour, drawstyle="steps-post")  # type: ignore[arg-type]
    axis.set(ylabel="fairness regret per decision", ylim=(0, None))
    axis.set_xlabel("time, UTC" if audit.dated else "time")
    if audit.dated:
        concise(axis)
    tidy(axis)
    return figure


def concise(axis: Axes) -> None:
    """Write dates as short as they can be."""
    # From two days on it goes by days: by hours there would be more than six, and a warning.
    locator = AutoDateLocator(minticks=2, maxticks=6)  # type: ignore[no-untyped-call]
    axis.xaxis.set_major_locator(locator)
    axis.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def sensitivity_figure(audit: Audit) -> Figure:
    """Draw how many arms have each verdict when the merit is raised to a power."""
    figure = new_figure(WIDE, 2.6)
    axis, bottom = figure.subplots(), np.zeros(len(POWERS))
    for verdict, colour in COLOURS.items():
        if verdict == "fair":
            continue  # the box is asked whether it accuses
        counts = np.array([getattr(one, verdict) for one in audit.sensitivity])
        axis.bar(range(len(POWERS)), counts, 0.7, bottom, color=colour, label=verdict)
        bottom += counts
    axis.set_xticks(range(len(POWERS)), [f"{power:g}" for power in POWERS])
    axis.set(xlabel="power of the merit", ylabel="arms")
    figure.legend(loc="outside right center", frameon=False)
    tidy(axis)
    return figure


def tidy(axis: Axes) -> None:
    """Leave out what says nothing."""
    axis.grid(alpha=0.25)
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
