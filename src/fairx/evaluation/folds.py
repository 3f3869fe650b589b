"""Which decisions a model learns from: all but those of a fold, or those before it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.types import Indices, Vector

from .logged import Logged

FIRST = 64  # decisions of the first stretch of time, which is modelled from nothing


class Folds(NamedTuple):
    """Parts of a log, each with a model of its own."""

    number: int
    by_time: bool = False  # stretches of time, each twice as long as the one before

    def others(self, sums: Vector) -> Vector:
        """Return, for each fold, the sums over the decisions that its model learns from."""
        if self.by_time:
            return np.asarray(np.cumsum(sums, axis=0) - sums)
        return np.asarray(sums.sum(axis=0) - sums) if self.number > 1 else sums


def apart(folds: int) -> Folds:
    """Return folds that are modelled from all others."""
    return Folds(rules.count("folds", folds))


def in_time(decisions: int) -> Folds:
    """Return stretches of time that are modelled from what was before: no model knows its future.

    Examples
    --------
    >>> in_time(64).number, in_time(65).number, in_time(1_000_000).number
    (1, 2, 14)
    """
    return Folds(1 + int(_stretch(np.array([decisions - 1]))[0]), by_time=True)


def folds_of(piece: Logged, start: int, folds: Folds) -> Indices:
    """Return the fold of each decision: a unit is in one fold, unless folds are in time."""
    rows = np.arange(start, start + len(piece.arms))
    if folds.by_time:
        return _stretch(rows)
    return (rows if piece.units is None else piece.units) % folds.number


def _stretch(rows: Indices) -> Indices:
    return np.asarray(np.log2(rows // FIRST + 1), np.int64)
