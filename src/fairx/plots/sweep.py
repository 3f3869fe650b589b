"""Final regret, and how many arms are starved, over the values of one setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.pictures import Style, new_figure, styles
from fairx.simulation import bands
from fairx.types import Vector

from .figure import Layout, View, file_words, legend, merit_title, write

Families = Mapping[str, list[Curve]]


class Measure(NamedTuple):
    """One of the two panels that each merit has."""

    name: str  # in the names of files
    words: str
    of: Callable[[Panel, Curve], Vector]  # one number of each run
    scale: str  # of the axis


def _fairness(panel: Panel, curve: Curve) -> Vector:
    return np.asarray(curve.result.fairness_regret[:, -1])


def _starved(panel: Panel, curve: Curve) -> Vector:
    return panel.starved(curve.result)


MEASURES = (
    Measure("fairness", "final fairness regret", _fairness, "log"),
    Measure("starved", "fair share of starved arms", _starved, "linear"),
)


def sweep_figure(outcome: Outcome, band: str = "std") -> Figure:
    """Draw the final fairness regret by the value of the setting swept, and the starved share below.

    A policy that is not swept is a level line. Bands are those of `fairx.simulation.bands`.
    """
    found, columns = layout(outcome, band)
    figure = new_figure(max(3.2 * len(columns), 6.4), 6.4)
    grid = figure.subplots(len(MEASURES), len(columns), squeeze=False, sharey="row").T
    for axes, views in zip(grid, columns, strict=True):
        for axis, view in zip(axes, views, strict=True):
            view.draw(axis)
            axis.label_outer()
    legend(figure, found)
    return figure


def layout(outcome: Outcome, band: str = "std") -> Layout:
    """Return the panels of the figure, two for each merit."""
    bands.check(band)
    names = [entrant.family or entrant.label for entrant in outcome.experiment.policies]
    found = styles(dict.fromkeys(names))
    return Layout(found, [_views(panel, names, found, band) for panel in outcome.panels])


def _views(panel: Panel, names: list[str], found: Mapping[str, Style], band: str) -> list[View]:
    families: dict[str, list[Curve]] = {}
    for name, curve in zip(names, panel.curves, strict=True):
        families.setdefault(name, []).append(curve)
    title = merit_title(panel.merit)
    return [
        View(
            f"{measure.name}-{file_words(title)}",
            partial(_draw, panel=panel, measure=measure, families=families, found=found, band=band),
        )
        for measure in MEASURES
    ]


def _draw(
    axis: Axes, panel: Panel, measure: Measure, families: Families, found: Mapping[str, Style],
    band: str,
) -> None:  # fmt: skip
    for name, curves in families.items():
        values = np.array([_value(curve) for curve in curves])
        each = np.array([measure.of(panel, curve) for curve in curves]).T
        mean, low, high = bands.band(each, band)
        colour, line = found[name]
        if np.isnan(values).any():
            axis.axhline(mean[0], color=colour, ls=line, lw=1.6)
            axis.axhspan(low[0], high[0], color=colour, alpha=0.2, lw=0)
        else:
            axis.plot(values, mean, color=colour, ls=line, lw=1.6, marker="o", ms=3)
            axis.fill_between(values, low, high, color=colour, alpha=0.2, lw=0)
    swept = sorted({name for curves in families.values() for c in curves for name in c.settings})
    found_at = [_value(curve) for curves in families.values() for curve in curves]
    scale = "linear" if any(value <= 0 for value in found_at) else "log"
    axis.set(xscale=scale, yscale=measure.scale, ylabel=measure.words)
    write(axis.set_xlabel(""), " or ".join(swept))
    write(axis.set_title("", fontsize=10), merit_title(panel.merit))
    if measure.scale == "linear":
        axis.set_ylim(bottom=0, auto=True)  # panels to come share it, and may be higher
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _value(curve: Curve) -> float:
    """Return the value of the setting swept; not a number where none is."""
    values = [*curve.settings.values()] if not curve.tried else []
    return float(values[0]) if len(values) == 1 else np.nan
