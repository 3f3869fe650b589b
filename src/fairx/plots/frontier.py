"""Reward against unfairness, by each notion: who gives up what, and who is not beaten."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairx.experiments.notions import frontier, unfairness
from fairx.experiments.outcome import Outcome, Panel
from fairx.pictures import Style, new_figure, styles
from fairx.simulation import bands

from .figure import Layout, View, file_words, legend, merit_title, write

GUIDE = "#555555"
ACROSS = 3  # panels in a row


def frontier_figure(outcome: Outcome, band: str = "std") -> Figure:
    """Draw for each notion what each policy gives up of reward against how unfair it is.

    Points are means over runs with their bands; the line joins those that no other beats in one
    without being worse in the other.
    """
    found, columns = layout(outcome, band)
    views = [view for column in columns for view in column]
    down = -(-len(views) // ACROSS)
    figure = new_figure(3.6 * ACROSS, 3.2 * down + 0.2 * (len(found) // 4 + 1))
    grid = figure.subplots(down, ACROSS, squeeze=False).ravel()
    for axis, view in zip(grid, views, strict=False):
        view.draw(axis)
    for axis in grid[len(views) :]:
        axis.set_axis_off()
    legend(figure, found)
    return figure


def layout(outcome: Outcome, band: str = "std") -> Layout:
    """Return the panels of the figure, one for each merit and notion but reward itself."""
    bands.check(band)
    labels = [entrant.label for entrant in outcome.experiment.policies]
    # Few colours for many policies: each has a number, beside its point and in the legend.
    found = {f"{n} {label}": style for n, (label, style) in enumerate(styles(labels).items(), 1)}
    notions = [notion for notion in outcome.experiment.notions if notion != "reward"]
    return Layout(
        found,
        [
            [
                View(
                    f"{file_words(notion)}-{file_words(merit_title(panel.merit))}",
                    partial(_draw, panel=panel, notion=notion, found=found, band=band),
                )
                for notion in notions
            ]
            for panel in outcome.panels
        ],
    )


def _draw(axis: Axes, panel: Panel, notion: str, found: Mapping[str, Style], band: str) -> None:
    points = []
    for number, (curve, style) in enumerate(zip(panel.curves, found.values(), strict=True), 1):
        x = bands.band(unfairness(notion, curve.result)[:, None], band)
        y = bands.band(unfairness("reward", curve.result)[:, None], band)
        points.append((x[0][0], y[0][0]))
        wide = (
            [[x[0][0] - x[1][0]], [x[2][0] - x[0][0]]],
            [[y[0][0] - y[1][0]], [y[2][0] - y[0][0]]],
        )
        own = curve.notion == notion
        axis.errorbar(
            *points[-1], xerr=wide[0], yerr=wide[1], color=style.colour,
            marker="D" if own else "o", ms=6 if own else 4, lw=1,
        )  # fmt: skip
        axis.annotate(str(number), points[-1], (3, 3), textcoords="offset points", fontsize=6)
    xs, ys = np.array(points).T
    best = frontier(xs, ys)
    axis.plot(xs[best], ys[best], color=GUIDE, lw=0.8, ls=":", zorder=0)
    axis.set(ylabel="reward given up a round")
    write(axis.set_xlabel(""), f"unfair: {notion}")
    write(axis.set_title("", fontsize=10), merit_title(panel.merit))
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
