"""What can go wrong with a GPU, in words."""

from __future__ import annotations

import re
import traceback
from typing import Any

from fairx.errors import FairxError

from ..complaints import complaint

COMPILERS = ("numba.core", "numba.cuda.core", "numba.cuda.compiler")
# What numba-cuda says where it has not what Numba has, and what helps; {0} is the first group.
MISSING = (
    (
        r"NRT required but not enabled|Only accept returning of array",
        "it makes an array, or NumPy does: write on one that is there, in a loop",
    ),
    (r"^<ufunc '(\w+)'>$", "numba-cuda has no np.{0} of a number: math may have it"),
)


def check_gpu(cuda: Any) -> None:
    """Refuse to go on where there is no GPU."""
    if not cuda.is_available():
        reason = cuda.cuda_error() or "none answers"
        first = str(reason).strip().splitlines()[0] if str(reason).strip() else "none answers"
        raise FairxError(f"device 'cuda' needs a GPU of NVIDIA's and its driver: {first}")


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether the GPU has too little memory for what was sent to it."""
    return isinstance(error, MemoryError) or "OUT_OF_MEMORY" in str(error)


def halved(runs: int, error: Exception) -> int:
    """Return half as many runs, for which there may be memory, or say that there is not even any for one.

    Examples
    --------
    >>> halved(7, MemoryError())
    3
    """
    if runs == 1:
        raise FairxError(
            "the GPU has too little memory for a single run: leave out device"
        ) from error
    return runs // 2


def complaint_of(error: Exception, what: str) -> Exception:
    """Return an error that says what cannot be compiled for a GPU, or the error as it is."""
    if not _is_of_compiler(error):
        return error
    why = next(
        (words.format(*found.groups()) for pattern, words in MISSING
         if (found := re.search(pattern, str(error)))), None,
    )  # fmt: skip
    why = why or complaint(error)
    return TypeError(f"{what} cannot be compiled for a GPU: {why}: leave out device")


def _is_of_compiler(error: Exception) -> bool:
    """Tell whether it was raised where code is compiled: numba-cuda lets some of Python's own errors out."""
    passed = (frame.f_globals["__name__"] for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(name.startswith(COMPILERS) for name in (type(error).__module__, *passed))
