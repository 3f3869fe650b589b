"""Products of small matrices, in an order of additions that is the same on every machine.

Sums run in eight lanes that are added up at the end: the compiler makes vector code of them
without being allowed to reorder anything.
"""

from __future__ import annotations

from .compiled import kernel
from .types import Matrix, Vector

LANES = 8


@kernel
def dot(x: Vector, y: Vector) -> float:
    """Return the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> dot(np.arange(9.0), np.ones(9))
    36.0
    """
    a = b = c = d = e = f = g = h = 0.0
    whole = len(x) // LANES * LANES
    for i in range(0, whole, LANES):
        a += x[i] * y[i]
        b += x[i + 1] * y[i + 1]
        c += x[i + 2] * y[i + 2]
        d += x[i + 3] * y[i + 3]
        e += x[i + 4] * y[i + 4]
        f += x[i + 5] * y[i + 5]
        g += x[i + 6] * y[i + 6]
        h += x[i + 7] * y[i + 7]
    for i in range(whole, len(x)):
        a += x[i] * y[i]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel
def times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix . x."""
    for i in range(len(out)):
        out[i] = dot(matrix[i], x)


@kernel
def transpose_times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix' . x, row by row."""
    for j in range(len(out)):
        out[j] = 0.0
    whole = len(x) // 4 * 4
    for i in range(0, whole, 4):
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(len(out)):
            left = a * matrix[i, j] + b * matrix[i + 1, j]
            out[j] += left + (c * matrix[i + 2, j] + d * matrix[i + 3, j])
    for i in range(whole, len(x)):
        for j in range(len(out)):
            out[j] += x[i] * matrix[i, j]


@kernel
def add_outer(matrix: Matrix, scale: float, x: Vector, y: Vector) -> None:
    """Add scale * x y' to `matrix`."""
    for i in range(len(x)):
        weight = scale * x[i]
        for j in range(len(y)):
            matrix[i, j] += weight * y[j]
