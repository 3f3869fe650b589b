"""Figures of experiments, drawn without touching pyplot or its settings."""

from .drawing import draw
from .exposure import exposure_figure
from .figure import save
from .palette import Style, styles
from .regret import regret_figure

__all__ = ["Style", "draw", "exposure_figure", "regret_figure", "save", "styles"]
