"""Data sets by name, or from a file of yours."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fairx import rules
from fairx.errors import BrokenFile
from fairx.files import UNREADABLE
from fairx.types import Matrix

from . import arff, libsvm
from .dataset import Dataset, checked, refuse_huge
from .known import KNOWN, Known, names, path_of

Reader = Callable[[Path, int | None], tuple[Matrix, Matrix]]


def load(
    name_or_path: str | os.PathLike[str],
    directory: str | os.PathLike[str] | None = None,
    labels: int | None = None,
) -> Dataset:
    """Return the data set of that name, or the one in the file at that path.

    Parameters
    ----------
    name_or_path
        One of `names()`, or a file: `.arff`; LIBSVM text as `.svm`, `.libsvm` or `.txt`; either
        of them also with `.gz` or `.bz2`; `.npz` with the arrays `X` and `Y`.
    directory
        Where the file of a named data set lies, instead of `FAIRX_DATA` or the cache.
    labels
        How many labels there are. In an ARFF file they are the last attributes, or with a minus
        sign the first ones, and `labels` is required; elsewhere it is checked.

    Examples
    --------
    >>> from fairx import datasets
    >>> yeast = datasets.load("yeast")
    >>> [int(count) for count in yeast.labels.sum(axis=0)[:4]]
    [762, 1038, 983, 862]
    """
    known = KNOWN.get(os.fspath(name_or_path))
    if not known:
        path = Path(name_or_path)
        return read(path, reader_of(path), labels, path.name, "", str(path))
    found = load_known(known, directory)
    if labels not in (None, known.labels):
        raise ValueError(f"labels must be {known.labels} for {known.name}, not {labels!r}")
    return found


def load_known(known: Known, directory: str | os.PathLike[str] | None = None) -> Dataset:
    """Return a data set that has a name, or say how to get it."""
    path, remedy = path_of(known, directory), f"run: fairx data get {known.name}"
    if not path.exists():
        elsewhere = f"point FAIRX_DATA at a folder with {path.name}"
        raise FileNotFoundError(f"{known.name} is not at {path}: {remedy}, or {elsewhere}")
    reader = functools.partial(read_arrays, divisor=known.divisor)
    try:
        found = read(path, reader, known.labels, known.name, known.citation, known.source)
    except BrokenFile as error:
        raise BrokenFile(f"{error}: {remedy} --force") from error
    wanted = known.rows, known.features
    if found.features.shape != wanted:
        shape = found.features.shape
        raise BrokenFile(f"{path}: X must have shape {wanted}, not {shape}: {remedy} --force")
    return found


def read(
    path: Path, reader: Reader, labels: int | None, name: str, citation: str, source: str
) -> Dataset:
    """Return the data set in a file; what is wrong with it is said with the file's name."""
    try:
        features, marks = reader(path, labels)
        return checked(name, features, marks, citation, source)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (*UNREADABLE, MemoryError) as error:
        raise BrokenFile(f"{path}: {str(error) or type(error).__name__}") from error


def read_arrays(path: Path, labels: int | None, divisor: int = 1) -> tuple[Matrix, Matrix]:
    """Return the arrays `X` and `Y` of an `.npz` file."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if not {"X", "Y"} <= set(archive.files):
            raise ValueError(f"the arrays must be X and Y, not {', '.join(archive.files)}")
        features, marks = archive["X"], archive["Y"]
    if features.dtype.kind not in "biuf" or marks.dtype.kind not in "biuf":
        raise ValueError(f"X and Y must be numbers, not {features.dtype} and {marks.dtype}")
    if labels not in (None, *marks.shape[1:2]):
        raise ValueError(f"Y must have {labels} columns, not shape {marks.shape}")
    refuse_huge(*features.shape)
    return features / divisor, marks


READERS: dict[str, Reader] = {
    ".arff": arff.read,
    ".libsvm": libsvm.read,
    ".npz": read_arrays,
    ".svm": libsvm.read,
    ".txt": libsvm.read,
}


def reader_of(path: Path) -> Reader:
    """Return what reads files with the ending of `path`."""
    plain = path.with_suffix("") if path.suffix in (".gz", ".bz2") else path
    if plain.suffix in READERS:
        return READERS[plain.suffix]
    hint = rules.nearest(str(path), names())
    rule = f"{' or '.join(names())}, or a file ending in {', '.join(READERS)}"
    raise ValueError(f"the data must be {rule}, not {str(path)!r}{hint}")
