"""Figures, drawn without touching pyplot or its settings."""

import importlib as _importlib
import typing as _typing

from .figure import save
from .palette import Style, styles

if _typing.TYPE_CHECKING:
    from .drawing import draw
    from .exposure import exposure_figure
    from .regret import regret_figure

__all__ = ["Style", "draw", "exposure_figure", "regret_figure", "save", "styles"]

_OF_EXPERIMENTS = {"draw": "drawing", "exposure_figure": "exposure", "regret_figure": "regret"}


def __getattr__(name: str) -> _typing.Any:
    """Import the figures of experiments when they are asked for: an audit draws its own."""
    if name not in _OF_EXPERIMENTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(f".{_OF_EXPERIMENTS[name]}", __name__), name)
