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
from fairx.types import Vector

from .figure import Layout, View, file_words, legend, merit_title, write

GUIDE = "#555555"
ACROSS = 3  # panels in a row
NEAR = 0.04  # of a panel: labels that would lie upon each other


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


def together(xs: Vector, ys: Vector) -> list[list[int]]:
    """Return who lies so near another that they have one label.

    Examples
    --------
    >>> together(np.array([0.1, 0.9, 0.11]), np.array([0.5, 0.1, 0.5]))
    [[0, 2], [1]]
    """
    wide, high = (max(float(np.ptp(values)), 1e-300) for values in (xs, ys))
    groups: list[list[int]] = []
    for i in range(len(xs)):
        for group in groups:
            first = group[0]
            if abs(xs[i] - xs[first]) < NEAR * wide and abs(ys[i] - ys[first]) < NEAR * high:
                group.append(i)
                break
        else:
            groups.append([i])
    return groups


def numbers(group: list[int]) -> str:
    """Return the numbers of policies in a legend that begins with 1, many in a row by their ends.

    Examples
    --------
    >>> numbers([0, 1, 2, 5, 7, 8])
    '1\N{EN DASH}3, 6, 8, 9'
    """
    rows: list[list[int]] = []
    for i in group:
        if rows and rows[-1][-1] == i:  # the number before
            rows[-1].append(1 + i)
        else:
            rows.append([1 + i])
    return ", ".join(
        f"{row[0]}\N{EN DASH}{row[-1]}" if len(row) > 2 else ", ".join(map(str, row))
        for row in rows
    )


def _draw(axis: Axes, panel: Panel, notion: str, found: Mapping[str, Style], band: str) -> None:
    points = []
    for curve, style in zip(panel.curves, found.values(), strict=True):
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
    xs, ys = np.array(points).T
    for group in together(xs, ys):
        where = xs[group[0]], ys[group[0]]
        axis.annotate(numbers(group), where, (4, 4), textcoords="offset points", fontsize=6)
    best = frontier(xs, ys)
    axis.plot(xs[best], ys[best], color=GUIDE, lw=0.8, ls=":", zorder=0)
    axis.set(ylabel="reward given up a round")
    write(axis.set_xlabel(""), f"unfair: {notion}")
    write(axis.set_title("", fontsize=10), merit_title(panel.merit))
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
