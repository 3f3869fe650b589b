"""The figure that an experiment asks for, whole or panel by panel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from matplotlib.figure import Figure

from fairx.experiments.outcome import Outcome
from fairx.pictures import new_figure

from . import exposure, frontier, regret, sweep
from .figure import Layout, legend


class Kind(NamedTuple):
    """How one kind of figure is drawn."""

    whole: Callable[[Outcome, str], Figure]
    layout: Callable[[Outcome, str], Layout]
    size: tuple[float, float]  # of a panel that stands alone, in inches, without its legend
    columns: int  # of that legend


FIGURES = {
    "regret": Kind(regret.regret_figure, regret.layout, (4.2, 3.1), 2),
    "exposure": Kind(exposure.exposure_figure, exposure.layout, (7.0, 2.8), 4),
    "sweep": Kind(sweep.sweep_figure, sweep.layout, (4.2, 3.1), 2),
    "frontier": Kind(frontier.frontier_figure, frontier.layout, (4.2, 3.1), 2),
}


def draw(outcome: Outcome, band: str = "std") -> Figure:
    """Return the figure that `outcome.experiment.figure` names, its bands of one kind."""
    return _kind(outcome).whole(outcome, band)


def panels(outcome: Outcome, band: str = "std") -> dict[str, Figure]:
    """Return each panel as a small figure of its own, with its legend, by a name for its file.

    The names are like "fairness-c10"; panels that would share one are numbered.
    """
    kind = _kind(outcome)
    styles, columns = kind.layout(outcome, band)
    views = [view for column in columns for view in column]
    shared, found = Counter(view.name for view in views), {}
    width, height = kind.size
    for number, view in enumerate(views, 1):
        figure = new_figure(width, height + 0.2 * math.ceil(len(styles) / kind.columns))
        view.draw(figure.subplots())
        legend(figure, styles, kind.columns)
        found[view.name if shared[view.name] == 1 else f"{view.name}-{number}"] = figure
    return found


def _kind(outcome: Outcome) -> Kind:
    name = outcome.experiment.figure
    if name not in FIGURES:
        raise ValueError(f"figure must be one of {', '.join(FIGURES)}, not {name!r}")
    return FIGURES[name]
