"""The figure that an experiment asks for."""

from __future__ import annotations

from matplotlib.figure import Figure

from fairx.experiments.outcome import Outcome

from .exposure import exposure_figure
from .regret import regret_figure

FIGURES = {"regret": regret_figure, "exposure": exposure_figure}


def draw(outcome: Outcome) -> Figure:
    """Return the figure that `outcome.experiment.figure` names."""
    kind = outcome.experiment.figure
    if kind not in FIGURES:
        raise ValueError(f"figure must be one of {', '.join(FIGURES)}, not {kind!r}")
    return FIGURES[kind](outcome)
