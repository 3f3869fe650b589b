"""Curves of a result on axes of matplotlib, and in a file for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairx.rules import InvalidValue, nearest
from fairx.types import Indices, Matrix

from . import bands

try:
    from matplotlib import pyplot as plt

    from fairx import pictures
except ImportError as error:
    raise ImportError("plot needs matplotlib: pip install 'fairx[plots]'") from error

WIDTH, HEIGHT = 4.4, 3.4  # inches of a panel: words are readable in the column of a paper


def plot(
    result: Any,
    label: str,
    axes: Any,
    band: str,
    measures: str | Sequence[str],
    save: str | Path | None,
) -> Any:
    """Draw some curves of a result; `Result.plot` says how. Return the axes."""
    names = [measures] if isinstance(measures, str) else list(measures)
    found = [bands.band(_curve(result, name), band) for name in names]
    if save is not None:
        pictures.format_of(save)  # refused before anything is drawn
    panels = _axes(axes, names)
    for axis, name, one in zip(panels, names, found, strict=True):
        _draw(axis, result.rounds, one, label)
        axis.set(xlabel="rounds", ylabel=name.replace("_", " "))
    if save is not None:
        _save(panels[0], label, save)
    if axes is not None:
        return axes
    return panels[0] if isinstance(measures, str) else panels


def _curve(result: Any, name: str) -> Matrix:
    """Return what was measured at each checkpoint of each run."""
    there = result.curves()
    if name in there:
        return np.asarray(there[name])
    rule = f"be curves ({', '.join(there)}), not {name!r}"
    raise InvalidValue("measures", rule + nearest(str(name), there))


def _axes(axes: Any, names: Sequence[str]) -> Any:
    """Return an axis for each name: those given, or those of a new figure."""
    if axes is None:
        return _new_axes(len(names))
    found = np.atleast_1d(axes).ravel()
    if found.size == len(names):
        return found
    rule = f"be {len(names)}, one for each of {', '.join(names)}, not {found.size}"
    raise InvalidValue("axes", rule)


def _new_axes(panels: int) -> Any:
    size = WIDTH * panels, HEIGHT
    _, found = plt.subplots(1, panels, figsize=size, layout="constrained", squeeze=False)
    for axis in found[0]:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    return found[0]


def _draw(axis: Any, rounds: Indices, band: bands.Band, label: str) -> None:
    name = label or f"curve {len(axis.lines) + 1}"
    style = pictures.styles([*(str(line.get_label()) for line in axis.lines), name])[name]
    axis.plot(rounds, band.mean, color=style.colour, ls=style.line, label=label or None)
    axis.fill_between(rounds, band.low, band.high, color=style.colour, alpha=0.2, lw=0)


def _save(axis: Any, label: str, path: str | Path) -> None:
    if label and axis.get_legend() is None:
        axis.legend(frameon=False)
    pictures.write_picture(axis.get_figure(root=True), path)
