"""Kernels whose numbers are a processor's to the last bit, on a GPU as well.

A GPU rounds some numbers otherwise: it fuses a product and a sum, and divides by steps. Mostly that changes a last bit,
and no choice. Where a last bit decides, the source says so by `last_bits` or `exactly`, and a whole kernel
that calls one of them is compiled without all that (`gpu.rounding`). It is slower, and needs not be said elsewhere.
"""

from __future__ import annotations

import numpy as np

from .teaching import kernel


@kernel
def last_bits(x: float) -> np.uint64:
    """Return the bits of a number: whoever reads the last of them needs them to be the same everywhere.

    Examples
    --------
    >>> hex(last_bits(1.0))
    '0x3ff0000000000000'
    """
    return np.float64(x).view(np.uint64)


@kernel
def exactly() -> None:
    """Have the kernel that calls this be exact: what it compares is often equal but for rounding."""


@kernel
def is_exact() -> bool:
    """Tell whether numbers are a processor's to the last bit: always, but in most kernels of a GPU.

    Examples
    --------
    >>> is_exact()
    True
    """
    return True
