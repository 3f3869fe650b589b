"""Data sets that are too large to be part of the package: fetched once, then kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.errors import BrokenFile

from . import download, dumps, libsvm
from .known import KNOWN, Known, names, path_of
from .loading import load_known, read

Array = npt.NDArray[Any]
Parts = list[tuple[Array, Array]]  # features and labels of the train part, then of the test part
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multilabel/mediamill/"


class Release(NamedTuple):
    """A source distribution that has a data set inside: a train and a test part, in that order."""

    project: str
    filename: str
    checksum: str
    members: tuple[str, str]


MEDIAMILL = Release(
    project="scikit-multilearn",
    filename="scikit-multilearn-0.0.1.tar.gz",
    checksum="ac30a342595481f46db77f5334c3a1e2d8261f4adbd104e3444f801c3c89b6a0",
    members=(
        "scikit-multilearn-0.0.1/skmultilearn/data/mediamill-train.dump.bz2",
        "scikit-multilearn-0.0.1/skmultilearn/data/mediamill-test.dump.bz2",
    ),
)


def fetch(
    name: str,
    directory: str | os.PathLike[str] | None = None,
    source: str = "index",
    force: bool = False,
) -> Path:
    """Fetch a data set, unless it is there already, and return its file.

    Parameters
    ----------
    name
        One of `names()` that is not part of the package.
    directory
        Where to put it, instead of `FAIRX_DATA` or the cache.
    source
        ``"index"``: the package index that pip is configured to use (`index-url` and `cert`).
        ``"libsvm"``: the page of LIBSVM.
    force
        Fetch it even if a good file is there.

    Notes
    -----
    A file appears whole or not at all, and one that was there stays until then.

    Examples
    --------
    >>> from fairx import datasets
    >>> datasets.fetch("yeast")
    Traceback (most recent call last):
    ValueError: name must be one of mediamill, not 'yeast': it is part of fairx
    """
    distant = [each for each in names() if not KNOWN[each].embedded]
    if name not in distant:
        because = ": it is part of fairx" if name in KNOWN else ""
        raise ValueError(f"name must be one of {', '.join(distant)}, not {name!r}{because}")
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}, not {source!r}")
    known, target = KNOWN[name], path_of(KNOWN[name], directory)
    if not force and _is_good(known, target):
        return target
    with _workspace(target) as folder:
        _write(folder / target.name, SOURCES[source](folder))
        load_known(known, folder)  # what was fetched is what it should be
        (folder / target.name).replace(target)
    return target


def from_index(folder: Path, release: Release = MEDIAMILL) -> Parts:
    """Return the parts inside a release, which is read only if its checksum is right."""
    path = folder / release.filename
    with path.open("w+b") as file:
        download.from_index(release.project, release.filename, file)
        file.seek(0)
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != release.checksum:
        because = "the index has another file under that name, and nothing of it was read"
        rule = f"must have the SHA-256 {release.checksum}, not {found}"
        raise BrokenFile(f"{release.filename} {rule}: {because}")
    return [dumps.arrays_of(path, member) for member in release.members]


def from_libsvm(folder: Path) -> Parts:
    """Return the parts in the files of LIBSVM, whose labels are all counted from 0."""
    return [_from_libsvm(folder / f"{part}-exp1.svm.bz2") for part in ("train", "test")]


def _from_libsvm(path: Path) -> tuple[Array, Array]:
    with path.open("wb") as file:
        download.from_address(LIBSVM + path.name, file)
    found = read(path, libsvm.read, KNOWN["mediamill"].labels, path.name, "", LIBSVM)
    return found.features, found.labels


SOURCES: dict[str, Callable[[Path], Parts]] = {"index": from_index, "libsvm": from_libsvm}


def _write(path: Path, parts: Parts) -> None:
    """Write the parts one below the other."""
    train = np.repeat([True, False], [len(labels) for _, labels in parts])
    features = np.concatenate([features for features, _ in parts]).astype(np.float32)
    labels = np.concatenate([labels for _, labels in parts]).astype(np.uint8)
    np.savez_compressed(path, X=features, Y=labels, train=train)


def _is_good(known: Known, path: Path) -> bool:
    """Tell whether the data set is there and whole."""
    try:
        load_known(known, path.parent)
    except (FileNotFoundError, BrokenFile):
        return False
    return True


@contextmanager
def _workspace(target: Path) -> Iterator[Path]:
    """Open a folder beside `target`, of which nothing remains afterwards."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetching-") as folder:
            yield Path(folder)
    except ConnectionError:
        raise
    except OSError as error:
        remedy = "free some space there, or give another directory"
        raise OSError(f"{target} cannot be written ({error}): {remedy}") from error
