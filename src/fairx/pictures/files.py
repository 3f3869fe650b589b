"""Figures as files: their text is text, and the same figure has the same bytes."""

from __future__ import annotations

import io
import re
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from fairx.rules import InvalidValue

FORMATS = ("svg", "pdf", "png")
DPI = 300  # what journals ask for, where there are pixels
_UNSAID = {  # what would change from one day, or one version of Matplotlib, to the next
    "svg": ("Creator", "Date", "Format", "Type"),
    "pdf": ("CreationDate", "Creator", "Producer"),
    "png": ("Software",),
}


def new_figure(width: float, height: float) -> Figure:
    """Return a white figure that fits its parts together, its sizes in inches."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def format_of(path: str | Path) -> str:
    """Return the format that the end of a file's name stands for.

    Examples
    --------
    >>> format_of("figures/regret.pdf")
    'pdf'
    >>> format_of("regret.jpg")
    Traceback (most recent call last):
    InvalidValue: the name of a figure must end in .svg, .pdf or .png, not 'regret.jpg'
    """
    found = Path(path).suffix.lower().removeprefix(".")
    if found in FORMATS:
        return found
    rule = f"end in .svg, .pdf or .png, not {Path(path).name!r}"
    raise InvalidValue("the name of a figure", rule)


def write_picture(figure: Figure, path: str | Path) -> Path:
    """Write a figure in the format that the name ends in, the same bytes for the same figure."""
    kind, target, buffer = format_of(path), Path(path), io.BytesIO()
    # Text that can be searched, copied and edited: names of fonts in SVG, TrueType fonts in PDF.
    with mpl.rc_context({"svg.fonttype": "none", "pdf.fonttype": 42}):
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=dict.fromkeys(_UNSAID[kind]))
    contents = buffer.getvalue()
    if kind == "svg":
        contents = _renamed(contents.decode(), target.stem).encode()
    target.write_bytes(contents)
    return target


def save(
    figure: Figure, path: str | Path, formats: Sequence[str] = ("svg", "png")
) -> tuple[Path, ...]:
    """Write `path`.svg and so on, the same bytes for the same figure; return the paths."""
    with warnings.catch_warnings(), _laid_out(figure):
        return tuple(write_picture(figure, f"{path}.{kind}") for kind in formats)


def inlined(figure: Figure, path: str | Path, formats: Sequence[str] = ("svg", "png")) -> str:
    """Save the figure; return its SVG without the lines that only a file of its own needs."""
    words = save(figure, path, formats)[formats.index("svg")].read_text(encoding="utf-8")
    return words[words.index("<svg") :]


@contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Fit the parts together once: for each file anew it would take most of the time."""
    # A name that our font cannot draw is still a text in SVG, and pages have other fonts.
    warnings.filterwarnings("ignore", "Glyph .* missing from font")
    figure.draw_without_rendering()
    engine = figure.get_layout_engine()
    figure.set_layout_engine("none")
    yield
    figure.set_layout_engine(engine or "none")


def _renamed(svg: str, name: str) -> str:
    """Give the ids, which Matplotlib draws at random, numbers and the name of this figure.

    So a file does not change from one run to the next, and pages can hold several of them. The
    setting svg.hashsalt would do the former only. Words between tags are left as they are.
    """
    prefix, numbers = f"f{zlib.crc32(name.encode()):08x}", dict[str, int]()

    def numbered(match: re.Match[str]) -> str:
        return f"{match[1]}{prefix}-{numbers.setdefault(match[2], len(numbers))}"

    def tag(match: re.Match[str]) -> str:
        return re.sub(r'(\bid="|href="#|url\(#)([^")]+)', numbered, match[0])

    return re.sub(r"<[^>]*>", tag, svg)
