"""Rows of numbers as they are read from text: those that are written, until all are known."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

import numpy as np

from fairx.types import Matrix, Vector

from .dataset import refuse_huge

HIGHEST = 2**31  # far above any number of columns that could be loaded


class Rows:
    """Rows of which only some columns are given.

    Examples
    --------
    >>> rows = Rows()
    >>> rows.add([0, 2], [1.5, 2.5])
    >>> rows.add([], [])
    >>> rows.dense(np.zeros(3)).tolist()
    [[1.5, 0.0, 2.5], [0.0, 0.0, 0.0]]
    """

    def __init__(self) -> None:
        self.lengths, self.columns, self.values = array("q"), array("q"), array("d")

    def add(self, columns: Sequence[int], values: Sequence[float]) -> None:
        """Append one row."""
        if len(set(columns)) < len(columns):
            twice = next(column for column in columns if list(columns).count(column) > 1)
            raise ValueError(f"columns must be given once each, not twice as column {twice}")
        self.lengths.append(len(columns))
        self.columns.extend(columns)
        self.values.extend(values)

    def dense(self, start: Vector) -> Matrix:
        """Return all rows as one matrix; what was not given is as in `start`."""
        refuse_huge(len(self.lengths), len(start))
        matrix = np.tile(start, (len(self.lengths), 1))
        matrix[np.repeat(np.arange(len(matrix)), self.lengths), self.columns] = self.values
        return matrix


def number(name: str, text: str) -> float:
    """Return the finite number that `text` says."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"{name} must be a finite number, not {text!r}")
    return found


def whole(name: str, text: str, low: int) -> int:
    """Return the whole number of at least `low` that `text` says."""
    try:
        found = int(text)
    except ValueError:
        found = low - 1
    if not low <= found < HIGHEST:
        raise ValueError(f"{name} must be a whole number of at least {low}, not {text!r}")
    return found
