"""Short texts of what is shown: records, arrays and functions, in words and in HTML."""

from __future__ import annotations

import functools
import html
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

FEW = 8  # numbers that are shown one by one
LONG = 200  # characters of something that is not ours
CUT = "…"  # where something is left out


@functools.singledispatch
def short(value: Any) -> str:
    """Return a value in one line: long arrays cut, functions by their names, never an address.

    Examples
    --------
    >>> from fairx import Custom, environments
    >>> def bowl(mean):
    ...     return 1 + mean**2
    >>> short(Custom(bowl)), short(environments.Bernoulli(np.linspace(0, 1, 21)))
    ('Custom(function=bowl)', 'Bernoulli(means=[0, 0.05, 0.1, … 21])')
    """
    name = getattr(value, "__name__", None)
    if callable(value) and isinstance(name, str):
        return name
    text = " ".join(repr(value).split())
    if " at 0x" in text:
        return type(value).__name__
    return text if len(text) <= LONG else text[:LONG] + CUT


@short.register
def _(value: np.ndarray) -> str:
    if 0 < value.size <= FEW:
        return repr(value.tolist())
    return f"[{_beginning(value)}{' x '.join(map(str, value.shape))}]"


@short.register
def _(value: list) -> str:  # type: ignore[type-arg]
    return f"[{_parts(value)}]"


@short.register
def _(value: tuple) -> str:  # type: ignore[type-arg]
    fields = getattr(value, "_fields", None)
    if fields is None:
        return f"({_parts(value)}{',' if len(value) == 1 else ''})"
    given = [
        f"{field}={short(part)}"
        for field, part in zip(fields, value, strict=True)
        if field != "empty"  # Numba wants a record to have a field
    ]
    return f"{type(value).__name__}({', '.join(given)})"


def _parts(values: Any) -> str:
    if len(values) <= FEW:
        return ", ".join(map(short, values))
    return f"{_beginning(values)}{len(values)}"


def _beginning(values: npt.ArrayLike) -> str:
    """Return the first numbers of a vector; nothing of a matrix."""
    some = list(values)[:3] if np.ndim(values) == 1 else []  # type: ignore[arg-type]
    known = [f"{one:.4g}" if isinstance(one, float) else short(one) for one in some]
    return ", ".join([*known, f"{CUT} "])


def several(count: int, one: str, many: str) -> str:
    """Return how many there are, with the words for one or for many.

    Examples
    --------
    >>> several(1, "arm has", "arms have"), several(1200, "arm has", "arms have")
    ('1 arm has', '1,200 arms have')
    """
    return f"{count:,} {one if count == 1 else many}"


def shortened(text: str, most: int) -> str:
    """Return a text with its middle left out where it is long: names may differ at their ends.

    Examples
    --------
    >>> shortened("Wonder If That War Photographer", 16), shortened("short", 16)
    ('Wonder If …apher', 'short')
    """
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - len(CUT)]}{CUT}{text[-end:]}"


def table(title: str, rows: Iterable[tuple[str, str]], note: str = "") -> str:
    """Return an HTML table of names and values, all of it escaped but the note.

    Examples
    --------
    >>> table("a < b", [("seed", "1")])
    '<table><caption>a &lt; b</caption><tr><th>seed</th><td>1</td></tr></table>'
    """
    body = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in rows
    )
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>{note}"


def record_table(value: Any) -> str:
    """Return the settings of a record as an HTML table: what a notebook shows of it."""
    rows = [(name, short(part)) for name, part in zip(value._fields, value, strict=True)]
    return table(type(value).__name__, rows)
