"""Small charts as SVG: text stays text, colours follow the page, and a phone can show them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

WIDTH = 480
STYLE = """
svg { font: 13px system-ui, sans-serif; color-scheme: light dark }
text { fill: light-dark(#37474f, #cfd8dc) }
text.strong { font-weight: 600; fill: light-dark(#1b1b1b, #f5f5f5) }
.grid { stroke: light-dark(#dde3e2, #37403f); fill: none }
.ink { stroke: light-dark(#1b1b1b, #f5f5f5); stroke-width: 2; fill: none }
.winner { --c: light-dark(#d9661f, #f0975a) }
.fair { --c: light-dark(#00897b, #2fc4b2) }
.blue { --c: light-dark(#3a70b2, #7fb0e8) }
.rose { --c: light-dark(#b0508f, #e090c4) }
.grey { --c: light-dark(#90a4ae, #78909c) }
rect, circle, .band { fill: var(--c) }
.band { opacity: .2 }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round }
.dashed { stroke-dasharray: 6 4 }
"""


class Scale(NamedTuple):
    """Where a number goes: from low to high on start to end."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a number."""
        low, high, value = (
            (math.log(each) if self.logarithmic else each) for each in (self.low, self.high, value)
        )
        return self.start + (value - low) / (high - low) * (self.end - self.start)


class Frame(NamedTuple):
    """Two scales."""

    x: Scale
    y: Scale

    def points(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """Return a path through points."""
        return "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in zip(xs, ys, strict=True))


def picture(title: str, height: float, *parts: str) -> str:
    """Return a whole picture; what it shows is told to those who do not see it."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="{height * 1.25:.0f}"'
        f' viewBox="0 0 {WIDTH} {height:g}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
    )
    return head + "\n".join(parts) + "\n</svg>\n"


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    """Return words at a place."""
    kind = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{escape(words)}</text>'


def bar(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a bar."""
    size = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}"'
    return f'<rect class="{kind}" {size} rx="1.5"/>'


def dot(x: float, y: float, kind: str, radius: float = 4) -> str:
    """Return a dot."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def stroke(path: str, kind: str) -> str:
    """Return a line along a path."""
    return f'<path class="{kind}" d="M{path}"/>'


def line(frame: Frame, xs: Sequence[float], ys: Sequence[float], kind: str) -> str:
    """Return a curve."""
    return stroke(frame.points(xs, ys), f"line {kind}")


def band(
    frame: Frame, xs: Sequence[float], low: Sequence[float], high: Sequence[float], kind: str
) -> str:
    """Return what lies between two curves."""
    there, back = frame.points(xs, high), frame.points(xs[::-1], low[::-1])
    return stroke(f"{there}L{back}Z", f"band {kind}")


def across(frame: Frame, ticks: dict[float, str]) -> str:
    """Return lines across, with what they stand for."""
    parts = []
    for value, words in ticks.items():
        y = frame.y(value)
        parts.append(stroke(f"{frame.x.start:.1f} {y:.1f}H{frame.x.end:.1f}", "grid"))
        parts.append(text(frame.x.start - 6, y + 4, words, "end"))
    return "\n".join(parts)


def below(frame: Frame, ticks: dict[float, str], name: str = "") -> str:
    """Return what is written below the axis, and its name; the last tick stays within the picture."""
    parts, under = [], frame.y.start + 17
    for value, words in ticks.items():
        anchor = "end" if value == frame.x.high else "middle"
        parts.append(text(frame.x(value), under, words, anchor))
    if name:
        parts.append(text((frame.x.start + frame.x.end) / 2, under + 19, name, "middle"))
    return "\n".join(parts)


def legend(entries: dict[str, str], x: float, y: float) -> str:
    """Return which colour is what, one below the other."""
    parts = []
    for number, (words, kind) in enumerate(entries.items()):
        parts.append(stroke(f"{x:.1f} {y + 18 * number - 4:.1f}h18", f"line {kind}"))
        parts.append(text(x + 24, y + 18 * number, words))
    return "\n".join(parts)
