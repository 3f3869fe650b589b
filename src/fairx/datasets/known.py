"""The data sets that are known by name, and where their files lie."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from fairx.compiled import cache_directory


class Known(NamedTuple):
    """A data set that has a name."""

    name: str
    rows: int
    features: int
    labels: int
    source: str
    citation: str
    embedded: bool = False  # part of the package
    divisor: int = 1  # features are stored as whole multiples of 1/divisor: exact, and small


KNOWN = {
    known.name: known
    for known in (
        Known(
            "yeast", 2417, 103, 14,
            source="yeast.arff of Mulan, by way of river (BSD-3-Clause); part of fairx",
            citation="Elisseeff and Weston, A kernel method for multi-labelled classification, "
            "NIPS 2001",
            embedded=True,
            divisor=1_000_000,
        ),
        Known(
            "mediamill", 43907, 120, 101,
            source="mediamill.arff of Mulan, by way of scikit-multilearn 0.0.1 (or of LIBSVM)",
            citation="Snoek et al., The challenge problem for automated detection of 101 semantic "
            "concepts in multimedia, ACM Multimedia 2006",
        ),
    )
}  # fmt: skip


def names() -> tuple[str, ...]:
    """Return the names that `load` knows.

    Examples
    --------
    >>> from fairx import datasets
    >>> datasets.names()
    ('yeast', 'mediamill')
    """
    return tuple(KNOWN)


def path_of(known: Known, directory: str | os.PathLike[str] | None = None) -> Path:
    """Return where the file of `known` lies, or would lie.

    In `directory`, or else in `FAIRX_DATA`, or else in the folder `data` of the cache.
    """
    if known.embedded:
        return Path(str(resources.files(__package__))) / f"{known.name}.npz"
    chosen = directory or os.environ.get("FAIRX_DATA") or cache_directory().parent / "data"
    return Path(chosen).expanduser() / f"{known.name}.npz"
