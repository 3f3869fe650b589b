"""LIBSVM text with several labels a row: `0,4,12 1:0.25 7:1.5`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fairx import rules
from fairx.types import Matrix

from .rows import Rows, number, whole
from .text import each_line


def read(path: Path, labels: int | None) -> tuple[Matrix, Matrix]:
    """Return the features and the labels of a file.

    Labels are counted from 0 where the label 0 occurs in the file, and from 1 otherwise; there
    are `labels` of them, or as many as the highest says. A row without labels begins with its
    features. Features are counted from 1, and those that are not given are 0.
    """
    features, marks = Rows(), Rows()
    each_line(path, lambda line: _take(line, features, marks))
    if not features.lengths:
        raise ValueError("the file must have at least one row, not none")
    width = 1 + max(features.columns, default=-1)
    return features.dense(np.zeros(width)), _label_columns(marks, labels)


def _take(line: str, features: Rows, marks: Rows) -> None:
    """Append the row of one line."""
    tokens = line.partition("#")[0].split()
    if not tokens:
        if line:  # a comment
            return
        remedy = "remove the line, or write a row of zeros as 1:0"
        raise ValueError(f"a row must have labels or features, not a blank line: {remedy}")
    named = [] if ":" in tokens[0] else tokens.pop(0).split(",")
    columns = [whole("labels", name, low=0) for name in named]
    pairs = [_pair(token) for token in tokens]
    marks.add(columns, [1.0] * len(columns))
    features.add([column for column, _ in pairs], [value for _, value in pairs])


def _pair(token: str) -> tuple[int, float]:
    """Return the column and the value of `index:value`."""
    index, colon, value = token.partition(":")
    if not colon:
        raise ValueError(f"features must be index:value, not {token!r}")
    return whole("the index of a feature", index, low=1) - 1, number("a feature", value)


def _label_columns(marks: Rows, labels: int | None) -> Matrix:
    """Return one column per label."""
    first = 0 if 0 in marks.columns else 1
    highest = max(marks.columns, default=first - 1)
    count = rules.count("labels", highest + 1 - first if labels is None else labels)
    if highest - first >= count:
        raise ValueError(f"labels must be from {first} to {count - 1 + first}, not {highest}")
    return marks.dense(np.zeros(count + first))[:, first:]
