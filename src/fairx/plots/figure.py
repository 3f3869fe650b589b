"""What the figures of experiments share: words, the legend, and panels that can stand alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from fairx.merit import Exponential, Merit
from fairx.pictures import Style


class View(NamedTuple):
    """One panel: the words for it in the name of a file, and how it is drawn."""

    name: str
    draw: Callable[[Axes], None]


class Layout(NamedTuple):
    """What a figure shows: the style of each label, and for each merit the panels in a row."""

    styles: Mapping[str, Style]
    columns: Sequence[Sequence[View]]


def merit_title(merit: Merit) -> str:
    """Return the paper's name of a merit, or the merit written out.

    Examples
    --------
    >>> from fairx import Affine, Exponential
    >>> merit_title(Exponential(10)), merit_title(Affine(1.0, 0.5))
    ('c = 10', 'Affine(slope=1.0, intercept=0.5)')
    """
    return f"c = {merit.steepness:g}" if isinstance(merit, Exponential) else repr(merit)


def file_words(words: str) -> str:
    """Return words as part of a file's name that any system takes.

    Examples
    --------
    >>> file_words("c = 10"), file_words("Affine(slope=1.0, intercept=0.5)")
    ('c10', 'affine-slope1.0-intercept0.5')
    """
    joined = re.sub(r"\s*=\s*", "", words.lower())
    return re.sub(r"[^a-z0-9.]+", "-", joined).strip("-.")[:60]


def write(text: Text, words: str) -> None:
    """Set words that come from outside, in which a dollar is a dollar."""
    text.set_parse_math(False)
    text.set_text(words)


def legend(figure: Figure, found: Mapping[str, Style], columns: int = 4) -> None:
    """Name the policies below the axes."""
    handles = [Line2D([], [], color=style.colour, ls=style.line, lw=3) for style in found.values()]
    # Set in two steps, since labels that begin with an underscore would be left out.
    words = ["."] * len(handles)
    box = figure.legend(
        handles, words, loc="outside lower center", ncols=columns, frameon=False, handlelength=3
    )
    for text, label in zip(box.get_texts(), found, strict=True):
        write(text, label)
