"""How much each arm was shown in a typical run, and how much it should have been."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fairx.experiments.outcome import Outcome, Panel
from fairx.pictures import OPTIMAL, Style, new_figure, styles
from fairx.simulation import bands
from fairx.types import Vector

from .figure import Layout, View, file_words, legend, merit_title, write

FAIR = "optimal fair"
FEW = 20  # arms that can have a group of bars each


def exposure_figure(outcome: Outcome, band: str = "std") -> Figure:
    """Draw the average exposure of run 0: a row for each horizon, a column for each merit.

    Up to 20 arms have bars, in their order. More of them are sorted by their fair share and
    drawn as steps on a logarithmic axis. One run has no `band`: there is none here.
    """
    found, columns = layout(outcome, band)
    horizons = len(columns[0])
    figure = new_figure(10 * len(columns), 3 * horizons + 1)
    grid = figure.subplots(horizons, len(columns), squeeze=False)
    for axes, views in zip(grid.T, columns, strict=True):
        for axis, view in zip(axes, views, strict=True):
            view.draw(axis)
    legend(figure, found)
    return figure


def layout(outcome: Outcome, band: str = "std") -> Layout:
    """Return the panels of the figure, those of each merit by horizon."""
    bands.check(band)
    found = styles(curve.label for panel in outcome.panels for curve in panel.curves)
    found[FAIR] = OPTIMAL
    return Layout(found, [_views(panel, found) for panel in outcome.panels])


def _views(panel: Panel, found: Mapping[str, Style]) -> list[View]:
    return [
        View(
            f"{result.rounds[-1]}-rounds-{file_words(merit_title(panel.merit))}",
            partial(_draw_horizon, panel=panel, horizon=horizon, found=found),
        )
        for horizon, result in enumerate(panel.curves[0].results)
    ]


def _draw_horizon(axis: Axes, panel: Panel, horizon: int, found: Mapping[str, Style]) -> None:
    shown = {curve.label: curve.results[horizon].exposure[0] for curve in panel.curves}
    shown[FAIR] = panel.fair
    (_draw_bars if len(panel.fair) <= FEW else _draw_steps)(axis, shown, found)
    rounds = panel.curves[0].results[horizon].rounds[-1]
    write(axis.set_title(""), f"after {rounds:,} rounds, {merit_title(panel.merit)}")
    axis.set_ylabel("average exposure")
    axis.spines[["top", "right"]].set_visible(False)


def _draw_bars(axis: Axes, shown: Mapping[str, Vector], found: Mapping[str, Style]) -> None:
    arms, width = np.arange(len(shown[FAIR])), 0.86 / len(shown)
    for number, (label, exposure) in enumerate(shown.items()):
        shift = (number - (len(shown) - 1) / 2) * width
        hatch = "////" if found[label].line == "--" else ""
        axis.bar(
            arms + shift,
            exposure,
            width,
            color=found[label].colour,
            hatch=hatch,
            edgecolor="white",
            lw=0.3,
        )
    axis.set(xlabel="arm", xticks=arms, xlim=(-0.6, len(arms) - 0.4))
    axis.grid(axis="y", alpha=0.25)
    axis.set_axisbelow(True)


def _draw_steps(axis: Axes, shown: Mapping[str, Vector], found: Mapping[str, Style]) -> None:
    order = np.argsort(-shown[FAIR], kind="stable")
    edges = np.arange(len(order) + 1) + 0.5
    for label, exposure in shown.items():
        axis.stairs(
            exposure[order],
            edges,
            baseline=None,
            color=found[label].colour,
            ls=found[label].line,
            lw=1.4,
        )
    axis.set(xlabel="arm, by fair share", yscale="log", xlim=(edges[0], edges[-1]))
    top = 1.2 * max(1.0, shown[FAIR].max())
    axis.set_ylim(shown[FAIR].min() / 10, top)  # what is shown less than that is hardly shown
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.grid(alpha=0.25)
