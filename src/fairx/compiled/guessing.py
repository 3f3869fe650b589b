"""First guesses that a GPU has an instruction for: some 20 bits of a reciprocal, or of that of a root."""

from __future__ import annotations

import math

from .teaching import kernel


@kernel
def near_reciprocal(x: float) -> float:
    """Return 1 / x, on a GPU to about six digits, for what is neither tiny nor huge.

    Examples
    --------
    >>> near_reciprocal(4.0)
    0.25
    """
    return 1.0 / x


@kernel
def near_inverse_root(x: float) -> float:
    """Return 1 / sqrt(x), on a GPU to about six digits, for what is neither tiny nor huge.

    Examples
    --------
    >>> near_inverse_root(4.0)
    0.5
    """
    return 1.0 / math.sqrt(x)
