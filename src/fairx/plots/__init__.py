"""Figures of experiments, drawn without touching pyplot or its settings."""

from fairx.pictures import Style, save, styles

from .drawing import draw, panels
from .exposure import exposure_figure
from .regret import regret_figure
from .sweep import sweep_figure

__all__ = [
    "Style",
    "draw",
    "exposure_figure",
    "panels",
    "regret_figure",
    "save",
    "styles",
    "sweep_figure",
]
