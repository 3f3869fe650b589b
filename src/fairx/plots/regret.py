"""Regrets over rounds: a column for each merit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.types import Indices, Vector

from .figure import legend, merit_title, new_figure, write
from .palette import Style, styles

GUIDE = "#555555"
POINTS = 80
NUMBER = EngFormatter(sep="")  # 2k, 1.5M


class Band(NamedTuple):
    """Mean and standard deviation over the runs of one policy."""

    label: str
    fair: bool  # it has a merit to be fair to
    rounds: Indices
    mean: Vector
    std: Vector


def regret_figure(outcome: Outcome) -> Figure:
    """Draw both regrets, and the fairness regret on logarithmic axes beside the root of T.

    Lines are means, bands one standard deviation. Conventional policies leave the linear axes,
    which are made for the fair ones, and the value they end at is written above instead.
    """
    columns = len(outcome.panels)
    if columns == 1:  # the three views side by side
        figure = new_figure(12, 4.4)
        grid = figure.subplots(1, 3, squeeze=False)
    else:
        figure = new_figure(3.6 * columns, 9.6)
        grid = figure.subplots(3, columns).T
    found = styles(curve.label for panel in outcome.panels for curve in panel.curves)
    for axes, panel in zip(grid, outcome.panels, strict=True):
        _draw_panel(axes, panel, found)
    legend(figure, found)
    return figure


def _thinned(band: Band, spaced: Callable[..., Vector]) -> Band:
    """Return some of the points, enough for the eye: the page holds many curves."""
    rounds = band.rounds
    if rounds.size <= POINTS:
        return band
    near = np.searchsorted(rounds, spaced(rounds[0], rounds[-1], POINTS).round())
    some = np.unique(near.clip(max=rounds.size - 1))
    return band._replace(rounds=rounds[some], mean=band.mean[some], std=band.std[some])


def _draw_panel(axes: Sequence[Axes], panel: Panel, found: Mapping[str, Style]) -> None:
    fairness = [_band(curve, curve.result.fairness_regret) for curve in panel.curves]
    reward = [_band(curve, curve.result.reward_regret) for curve in panel.curves]
    names = ("fairness regret", "reward regret", "fairness regret, log axes")
    for axis, name, bands in zip(axes, names, (fairness, reward, fairness), strict=True):
        axis.set(xlabel="rounds", ylabel=name)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
        spaced = np.geomspace if axis is axes[2] else np.linspace
        for band in bands:
            # Off the linear axes, a wide band would only colour the background.
            _draw_band(
                axis, _thinned(band, spaced), found[band.label], shaded=band.fair or axis is axes[2]
            )
    title = merit_title(panel.merit)
    _fit_linear(axes[0], fairness, title)
    _fit_linear(axes[1], reward, title)
    _fit_logarithmic(axes[2], fairness, title)


def _band(curve: Curve, regrets: Vector) -> Band:
    std = regrets.std(axis=0, ddof=1) if len(regrets) > 1 else np.zeros(regrets.shape[1])
    fair = hasattr(curve.policy, "merit")
    return Band(curve.label, fair, curve.result.rounds, regrets.mean(axis=0), std)


def _draw_band(axis: Axes, band: Band, style: Style, shaded: bool) -> None:
    axis.plot(band.rounds, band.mean, color=style.colour, ls=style.line, lw=1.6)
    if not shaded:
        return
    ends = (band.mean - band.std, band.mean + band.std)
    axis.fill_between(band.rounds, *ends, color=style.colour, alpha=0.15, lw=0)


def _fit_linear(axis: Axes, bands: Sequence[Band], title: str) -> None:
    """Make the axis that of the fair policies, if others are far off, and say where those are."""
    inside = [band for band in bands if band.fair] or bands
    low = min(0.0, *((band.mean - band.std).min() for band in inside))
    high = max(0.0, *((band.mean + band.std).max() for band in inside))
    size = high - low
    if size and any(not low - size < band.mean[-1] < high + size for band in bands):
        axis.set_ylim(low - 0.05 * size, high + 0.05 * size)
        off = [band for band in bands if not low < band.mean[-1] < high]
        title += "\noff the axis: " + ", ".join(f"{b.label} {_short(b.mean[-1])}" for b in off)
    axis.xaxis.set_major_formatter(NUMBER)
    axis.yaxis.set_major_formatter(NUMBER)
    write(axis.set_title("", fontsize=10), title)


def _short(value: float) -> str:
    return NUMBER(float(f"{value:.2g}"))


def _fit_logarithmic(axis: Axes, bands: Sequence[Band], title: str) -> None:
    """Show powers of T as lines, the theory's root of T dashed below all policies at the end."""
    write(axis.set_title("", fontsize=10), title)
    positive = [band for band in bands if band.mean[0] > 0]
    if not positive:
        return
    rounds, last = bands[0].rounds, [band.mean[-1] for band in positive]
    guide = 0.6 * min(last) * np.sqrt(rounds / rounds[-1])
    axis.plot(rounds, guide, color=GUIDE, ls=(0, (4, 3)), lw=1.2)
    axis.text(0.98, 0.02, "grey dashes: √T", transform=axis.transAxes, ha="right", color=GUIDE)
    axis.set(xscale="log", yscale="log")
    first = [band.mean[0] for band in positive]
    axis.set_ylim(0.6 * min(guide[0], *first), 1.6 * max(last))
