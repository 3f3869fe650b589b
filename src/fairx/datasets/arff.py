"""ARFF as Mulan and Weka write it, dense or sparse: no maintained library reads the sparse kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fairx.types import Matrix

from .rows import Rows, number, whole
from .text import each_line

ATTRIBUTE = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|[^\s{]+)\s*(\S.*)""", re.IGNORECASE)
NUMERIC = ("numeric", "real", "integer")
TRUTH = {"true": 1.0, "false": 0.0}


class Attribute(NamedTuple):
    """A column: any number, or one of the texts it lists, each of which stands for a number."""

    name: str
    listed: dict[str, float]

    def value(self, text: str) -> float:
        """Return the number that `text` stands for."""
        if not self.listed:
            return number(self.name, bare(text))
        if bare(text) not in self.listed:
            raise ValueError(f"{self.name} must be one of {', '.join(self.listed)}, not {text!r}")
        return self.listed[bare(text)]

    def start(self) -> float:
        """Return what a sparse row that leaves the column out means: 0, or the first one listed."""
        return next(iter(self.listed.values()), 0.0)


class Table:
    """What has been read so far."""

    def __init__(self) -> None:
        self.attributes: list[Attribute] = []
        self.rows = Rows()
        self.in_data = False

    def take(self, line: str) -> None:
        """Take in one line."""
        if not line or line.startswith("%"):
            return
        word = line.split()[0].lower()
        if self.in_data:
            self._add_row(line)
        elif word == "@attribute":
            self.attributes.append(_attribute(line))
        elif word == "@data":
            self.in_data = True
        elif word != "@relation":
            raise ValueError(f"the header must be @relation, @attribute or @data, not {line!r}")

    def _add_row(self, line: str) -> None:
        parts = _sparse if line.startswith("{") else _dense
        cells = parts(line, len(self.attributes))
        values = [self.attributes[column].value(text) for column, text in cells]
        self.rows.add([column for column, _ in cells], values)


def read(path: Path, labels: int | None) -> tuple[Matrix, Matrix]:
    """Return the features and the labels: the last `labels` attributes, or the first `-labels`."""
    table = Table()
    each_line(path, table.take)
    if not table.rows.lengths:
        raise ValueError("the file must have @data with at least one row, not none")
    count = len(table.attributes)
    if not labels or abs(labels) >= count:
        rule = f"how many of the last of {count} attributes are labels (negative: of the first)"
        raise ValueError(f"labels must be {rule}, not {labels!r}")
    matrix = table.rows.dense(np.array([attribute.start() for attribute in table.attributes]))
    left, right = np.split(matrix, [-labels], axis=1)
    return (left, right) if labels > 0 else (right, left)


def bare(text: str) -> str:
    """Return `text` without the space and the quotes around it."""
    return text.strip().strip("'\"")


def _attribute(line: str) -> Attribute:
    """Return the column that a line of the header declares."""
    found = ATTRIBUTE.fullmatch(line)
    name, kind = (bare(found[1]), found[2].strip()) if found else ("", "")
    if found and kind.lower() in NUMERIC:
        return Attribute(name, {})
    if kind.startswith("{") and kind.endswith("}"):
        texts = [bare(text) for text in kind[1:-1].split(",")]
        return Attribute(name, {text: _listed(name, text) for text in texts})
    raise ValueError(f"an attribute must be numeric or list its {{values}}, not {line!r}")


def _listed(name: str, text: str) -> float:
    """Return the number that a listed value stands for."""
    return TRUTH[text.lower()] if text.lower() in TRUTH else number(f"a value of {name}", text)


def _dense(line: str, count: int) -> list[tuple[int, str]]:
    """Return the cells of `value, value, ...`."""
    parts = line.split(",")
    if len(parts) != count:
        raise ValueError(f"a row must have {count} values, not {len(parts)}")
    return list(enumerate(parts))


def _sparse(line: str, count: int) -> list[tuple[int, str]]:
    """Return the cells of `{column value, column value, ...}`, columns from 0."""
    if not line.endswith("}"):
        raise ValueError(f"a sparse row must end in }}, not in {line[-10:]!r}")
    inside = line[1:-1].strip()
    return [_cell(part, count) for part in inside.split(",")] if inside else []


def _cell(part: str, count: int) -> tuple[int, str]:
    index, _, text = part.strip().partition(" ")
    column = whole("a column", index, low=0)
    if column >= count:
        raise ValueError(f"a column must be from 0 to {count - 1}, not {column}")
    return column, text
