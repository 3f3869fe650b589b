"""Arrays out of old pickles in an archive, without running anything that they ask for."""

from __future__ import annotations

import bz2
import pickle
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.errors import BrokenFile

ALLOWED = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    # The function that rebuilds arrays has moved since these files were written.
    ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
}


class _ArraysOnly(pickle.Unpickler):  # the one way that `pickle` has to refuse names
    def find_class(self, module: str, name: str) -> Any:
        try:
            return ALLOWED[module, name]
        except KeyError:
            refused = f"{module}.{name}"
            raise pickle.UnpicklingError(f"it must hold arrays alone, not {refused!r}") from None


def arrays_of(archive: Path, member: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return `X` and `y` of a bzip2 pickle of Python 2 inside a tar file."""
    try:
        with tarfile.open(archive) as files:
            packed: Any = files.extractfile(member)
            with bz2.open(packed) as stream:
                found = _ArraysOnly(stream, encoding="latin1").load()
        features, labels = found["X"], found["y"]
        if features.dtype.kind != "f" or labels.dtype.kind not in "biu":
            raise TypeError(f"X and y must be numbers, not {features.dtype} and {labels.dtype}")
    except Exception as error:  # a damaged pickle can raise anything
        because = f"{member} cannot be read ({str(error) or type(error).__name__})"
        raise BrokenFile(f"{archive.name}: {because}: fetch it again") from error
    return features, labels
