"""Regrets over rounds: a column for each merit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.pictures import Style, new_figure, styles
from fairx.simulation import bands
from fairx.types import Indices, Vector

from .figure import Layout, View, file_words, legend, merit_title, write

GUIDE = "#555555"
POINTS = 80
NUMBER = EngFormatter(sep="")  # 2k, 1.5M


class Line(NamedTuple):
    """Mean and band over the runs of one policy."""

    label: str
    fair: bool  # it has a merit to be fair to
    rounds: Indices
    mean: Vector
    low: Vector
    high: Vector


class Measure(NamedTuple):
    """One of the three panels that each merit has."""

    name: str  # in the names of files
    field: str  # of a result
    words: str
    logarithmic: bool = False


MEASURES = (
    Measure("fairness", "fairness_regret", "fairness regret"),
    Measure("reward", "reward_regret", "reward regret"),
    Measure("fairness-log", "fairness_regret", "fairness regret, log axes", logarithmic=True),
)


def regret_figure(outcome: Outcome, band: str = "std") -> Figure:
    """Draw both regrets, and the fairness regret on logarithmic axes beside the root of T.

    Lines are means; bands are those of `fairx.simulation.bands`. Conventional policies leave the
    linear axes, which are made for the fair ones, and the value they end at is written above.
    """
    found, columns = layout(outcome, band)
    if len(columns) == 1:  # the three views side by side
        figure = new_figure(12, 4.4)
        grid = figure.subplots(1, 3, squeeze=False)
    else:
        figure = new_figure(3.6 * len(columns), 9.6)
        grid = figure.subplots(3, len(columns)).T
    for axes, views in zip(grid, columns, strict=True):
        for axis, view in zip(axes, views, strict=True):
            view.draw(axis)
    legend(figure, found)
    return figure


def layout(outcome: Outcome, band: str = "std") -> Layout:
    """Return the panels of the figure, three for each merit."""
    bands.check(band)
    found = styles(curve.label for panel in outcome.panels for curve in panel.curves)
    return Layout(found, [_views(panel, found, band) for panel in outcome.panels])


def _views(panel: Panel, found: Mapping[str, Style], band: str) -> list[View]:
    title = merit_title(panel.merit)
    return [
        View(
            f"{measure.name}-{file_words(title)}",
            partial(
                _draw_lines,
                measure=measure,
                lines=[_line(curve, measure.field, band) for curve in panel.curves],
                found=found,
                title=title,
                settles=panel.settles if measure.field == "fairness_regret" else 0.0,
            ),
        )
        for measure in MEASURES
    ]


def _line(curve: Curve, field: str, kind: str) -> Line:
    result = curve.result
    ends = bands.band(getattr(result, field), kind)
    return Line(curve.label, hasattr(curve.policy, "merit"), result.rounds, *ends)


def _thinned(line: Line, spaced: Callable[..., Vector]) -> Line:
    """Return some of the points, enough for the eye: the page holds many curves."""
    rounds = line.rounds
    if rounds.size <= POINTS:
        return line
    near = np.searchsorted(rounds, spaced(rounds[0], rounds[-1], POINTS).round())
    some = np.unique(near.clip(max=rounds.size - 1))
    return Line(line.label, line.fair, *(part[some] for part in line[2:]))


def _draw_lines(
    axis: Axes, measure: Measure, lines: Sequence[Line], found: Mapping[str, Style], title: str,
    settles: float,
) -> None:  # fmt: skip
    axis.set(xlabel="rounds", ylabel=measure.words)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    spaced = np.geomspace if measure.logarithmic else np.linspace
    for line in lines:
        # Off the linear axes, a wide band would only colour the background.
        shaded = line.fair or measure.logarithmic
        _draw_line(axis, _thinned(line, spaced), found[line.label], shaded)
    (_fit_logarithmic if measure.logarithmic else _fit_linear)(axis, lines, title)
    if settles:
        _draw_settled(axis, _thinned(lines[0], spaced).rounds, settles)


def _draw_line(axis: Axes, line: Line, style: Style, shaded: bool) -> None:
    axis.plot(line.rounds, line.mean, color=style.colour, ls=style.line, lw=1.6)
    if shaded:
        axis.fill_between(line.rounds, line.low, line.high, color=style.colour, alpha=0.2, lw=0)


def _draw_settled(axis: Axes, rounds: Indices, settles: float) -> None:
    """Show what misspecification alone adds up to, within the limits that the policies set."""
    limits = axis.get_ylim()
    axis.plot(rounds, settles * rounds, color=GUIDE, ls=":", lw=1.4)
    axis.set_ylim(limits)
    words = f"dots: {settles:.2g} a round, the fixed point"
    axis.text(0.02, 0.98, words, transform=axis.transAxes, va="top", color=GUIDE, fontsize=8)


def _fit_linear(axis: Axes, lines: Sequence[Line], title: str) -> None:
    """Make the axis that of the fair policies, if others are far off, and say where those are."""
    inside = [line for line in lines if line.fair] or lines
    low = min(0.0, *(line.low.min() for line in inside))
    high = max(0.0, *(line.high.max() for line in inside))
    size = high - low
    if size and any(not low - size < line.mean[-1] < high + size for line in lines):
        axis.set_ylim(low - 0.05 * size, high + 0.05 * size)
        off = [line for line in lines if not low < line.mean[-1] < high]
        title += "\noff the axis: " + ", ".join(
            f"{one.label} {_short(one.mean[-1])}" for one in off
        )
    axis.xaxis.set_major_formatter(NUMBER)
    axis.yaxis.set_major_formatter(NUMBER)
    write(axis.set_title("", fontsize=10), title)


def _short(value: float) -> str:
    return NUMBER(float(f"{value:.2g}"))


def _fit_logarithmic(axis: Axes, lines: Sequence[Line], title: str) -> None:
    """Show powers of T as lines, the theory's root of T dashed below all policies at the end."""
    write(axis.set_title("", fontsize=10), title)
    positive = [line for line in lines if line.mean[0] > 0]
    if not positive:
        return
    rounds, last = lines[0].rounds, [line.mean[-1] for line in positive]
    guide = 0.6 * min(last) * np.sqrt(rounds / rounds[-1])
    axis.plot(rounds, guide, color=GUIDE, ls=(0, (4, 3)), lw=1.2)
    axis.text(0.98, 0.02, "grey dashes: √T", transform=axis.transAxes, ha="right", color=GUIDE)
    axis.set(xscale="log", yscale="log")
    first = [line.mean[0] for line in positive]
    axis.set_ylim(0.6 * min(guide[0], *first), 1.6 * max(last))
