"""A data set in memory, checked once."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.types import Matrix

LIMIT = 2e9  # bytes of one dense matrix


class Dataset(NamedTuple):
    """Examples with features and labels.

    Parameters
    ----------
    name
        What it was loaded as.
    features
        One row per example.
    labels
        One row per example, one column per label: 1 where the example has it, else 0.
    citation
        Whom to cite.
    source
        Where it came from.
    checksum
        SHA-256 of the shapes and of both arrays: the same if and only if the numbers are.

    Examples
    --------
    >>> from fairx import datasets
    >>> yeast = datasets.load("yeast")
    >>> yeast.features.shape, yeast.labels.shape, yeast.checksum[:12]
    ((2417, 103), (2417, 14), '07224b8431bf')
    """

    name: str
    features: Matrix
    labels: Matrix
    citation: str
    source: str
    checksum: str


def checked(
    name: str, features: npt.ArrayLike, labels: npt.ArrayLike, citation: str, source: str
) -> Dataset:
    """Return a data set of finite features and labels of 0 and 1, with its checksum."""
    found = rules.array("features", features, (None, None), "one row per example")
    rules.count("the number of features", found.shape[1])
    rules.count("the number of examples", len(found))
    marks = rules.array("labels", labels, (len(found), None), "one row per row of features")
    rules.count("the number of labels", marks.shape[1])
    wrong = (marks != 0) & (marks != 1)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"labels must be 0 or 1, not {marks[where]:g} at {where}")
    return Dataset(name, found, marks, citation, source, checksum(found, marks))


def refuse_huge(*shape: int) -> None:
    """Refuse a matrix of `shape` that would not fit into the memory of most machines."""
    size = 8.0 * np.prod(shape, dtype=float)
    if size > LIMIT:
        sides = " x ".join(map(str, shape))
        rule = f"at most {LIMIT / 1e9:g} GB as dense numbers"
        remedy = "select rows or features, or reduce their dimension first"
        raise ValueError(f"the data must be {rule}, not {sides} = {size / 1e9:.1f} GB: {remedy}")


def checksum(features: Matrix, labels: Matrix) -> str:
    """Return the SHA-256 of the shapes and of the numbers, the same on every machine."""
    digest = hashlib.sha256(f"{features.shape} {labels.shape}".encode())
    digest.update(features.astype("<f8", copy=False).data)
    digest.update(labels.astype("<f8", copy=False).data)
    return digest.hexdigest()
