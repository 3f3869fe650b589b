"""Colours that all figures share, and figures as files."""

from .files import FORMATS, format_of, inlined, new_figure, save, write_picture
from .palette import OPTIMAL, Style, styles

__all__ = [
    "FORMATS",
    "OPTIMAL",
    "Style",
    "format_of",
    "inlined",
    "new_figure",
    "save",
    "styles",
    "write_picture",
]
