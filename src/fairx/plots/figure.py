"""What all figures share: words, the legend, and files that are the same each time."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from fairx.merit import Exponential, Merit

from .palette import Style


def merit_title(merit: Merit) -> str:
    """Return the paper's name of a merit, or the merit written out.

    Examples
    --------
    >>> from fairx import Affine, Exponential
    >>> merit_title(Exponential(10)), merit_title(Affine(1.0, 0.5))
    ('c = 10', 'Affine(slope=1.0, intercept=0.5)')
    """
    return f"c = {merit.steepness:g}" if isinstance(merit, Exponential) else repr(merit)


def new_figure(width: float, height: float) -> Figure:
    """Return a white figure that fits its parts together."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def write(text: Text, words: str) -> None:
    """Set words that come from outside, in which a dollar is a dollar."""
    text.set_parse_math(False)
    text.set_text(words)


def legend(figure: Figure, found: Mapping[str, Style]) -> None:
    """Name the policies below the axes."""
    handles = [Line2D([], [], color=style.colour, ls=style.line, lw=3) for style in found.values()]
    # Set in two steps, since labels that begin with an underscore would be left out.
    words = ["."] * len(handles)
    box = figure.legend(
        handles, words, loc="outside lower center", ncols=4, frameon=False, handlelength=3
    )
    for text, label in zip(box.get_texts(), found, strict=True):
        write(text, label)


def save(figure: Figure, path: str | Path) -> tuple[Path, Path]:
    """Write `path`.svg and `path`.png, the same bytes for the same figure; return both."""
    svg, png = Path(f"{path}.svg"), Path(f"{path}.png")
    figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
    buffer = io.BytesIO()
    unsaid = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(buffer, format="svg", metadata=unsaid)
    svg.write_text(_renamed(buffer.getvalue().decode(), svg.stem), encoding="utf-8")
    return svg, png


def inlined(figure: Figure, path: str | Path) -> str:
    """Save the figure; return it without the lines that only a file of its own needs."""
    words = save(figure, path)[0].read_text(encoding="utf-8")
    return words[words.index("<svg") :]


def _renamed(svg: str, name: str) -> str:
    """Give the ids, which Matplotlib draws at random, numbers and the name of this figure.

    So a file does not change from one run to the next, and pages can hold several of them. The
    setting svg.hashsalt would do the former only, and belongs to the whole process.
    """
    prefix, numbers = f"f{zlib.crc32(name.encode()):08x}", dict[str, int]()

    def numbered(match: re.Match[str]) -> str:
        return f"{match[1]}{prefix}-{numbers.setdefault(match[2], len(numbers))}"

    return re.sub(r'(\bid="|href="#|url\(#)([^")]+)', numbered, svg)
