"""What can go wrong with a GPU, in words."""

from __future__ import annotations

from typing import Any

from fairx.errors import FairxError

from ..complaints import complaint


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
    if not type(error).__module__.startswith(("numba.core", "numba.cuda.core")):
        return error
    return TypeError(f"{what} cannot be compiled for a GPU: {complaint(error)}: leave out device")
