"""Products of small matrices, in an order of additions that is the same on every machine."""

from __future__ import annotations

from fairx.compiled import kernel, kernel_with, meet, turns, vector_kernel
from fairx.types import Matrix, Vector

LANES = 8


@kernel
def lane_product(row: Vector, x: Vector, length: int) -> float:
    """Return the inner product of the first `length` numbers of both.

    Eight sums run side by side, and are added up at the end as vector units like it: the upper
    half to the lower half, three times; what is left over of the length comes last.
    """
    a = b = c = d = e = f = g = h = 0.0
    whole = length // LANES * LANES
    for i in range(0, whole, LANES):
        a += row[i] * x[i]
        b += row[i + 1] * x[i + 1]
        c += row[i + 2] * x[i + 2]
        d += row[i + 3] * x[i + 3]
        e += row[i + 4] * x[i + 4]
        f += row[i + 5] * x[i + 5]
        g += row[i + 6] * x[i + 6]
        h += row[i + 7] * x[i + 7]
    rest = 0.0
    for i in range(whole, length):
        rest += row[i] * x[i]
    return ((a + e) + (c + g)) + ((b + f) + (d + h)) + rest


@vector_kernel(rows=1)
def one_product(matrix: Matrix, first: int, x: Vector, length: int) -> tuple[float]:
    """Return row `first` of `matrix` . x, of which only the first `length` columns count."""
    return (lane_product(matrix[first], x, length),)


@vector_kernel(rows=4)
def four_products(
    matrix: Matrix, first: int, x: Vector, length: int
) -> tuple[float, float, float, float]:
    """Return rows `first` to `first` + 3 of `matrix` . x."""
    (a,), (b,) = one_product(matrix, first, x, length), one_product(matrix, first + 1, x, length)
    (c,) = one_product(matrix, first + 2, x, length)
    (d,) = one_product(matrix, first + 3, x, length)
    return a, b, c, d


def whole_product(x: Vector, y: Vector) -> float:
    """Return the inner product, by each lane for itself."""
    return lane_product(x, y, len(x))


@kernel_with(whole_product)
def dot(x: Vector, y: Vector) -> float:
    """Return the inner product.

    Examples
    --------
    >>> import numpy as np
    >>> float(dot(np.arange(9.0), np.ones(9)))
    36.0
    """
    return one_product(x.reshape((1, len(x))), 0, y, len(x))[0]


def rows_times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix . x, each lane some of its rows."""
    meet()
    for i in turns(len(out)):
        out[i] = lane_product(matrix[i], x, len(x))
    meet()


@kernel_with(rows_times)
def times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix . x."""
    whole = len(out) // 4 * 4
    for i in range(0, whole, 4):
        out[i], out[i + 1], out[i + 2], out[i + 3] = four_products(matrix, i, x, len(x))
    for i in range(whole, len(out)):
        out[i] = one_product(matrix, i, x, len(x))[0]


def triangle_rows_times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix . x for a lower triangular matrix, each lane some of its rows."""
    meet()
    for i in turns(len(x)):
        out[i] = lane_product(matrix[i], x, triangle_length(i, len(x)))
    meet()


@kernel
def triangle_length(row: int, n: int) -> int:
    """Return how much of a row is read: the zeros beyond the diagonal have their part in the order of the sums."""
    return min(n, (row // 4 * 4 // LANES + 1) * LANES) if row < n // 4 * 4 else n


@kernel_with(triangle_rows_times)
def triangle_times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix . x for a lower triangular matrix, whose upper part must be zeros: some of them are read."""
    n = len(x)
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        length = min(n, (i // LANES + 1) * LANES)  # whole lanes: the zeros in them do no harm
        out[i], out[i + 1], out[i + 2], out[i + 3] = four_products(matrix, i, x, length)
    for i in range(whole, n):
        out[i] = one_product(matrix, i, x, n)[0]


def columns_times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix' . x, each lane some of its columns."""
    whole = len(x) // 4 * 4
    meet()
    for j in turns(len(out)):
        total = 0.0
        for i in range(0, whole, 4):
            left = x[i] * matrix[i, j] + x[i + 1] * matrix[i + 1, j]
            total += left + (x[i + 2] * matrix[i + 2, j] + x[i + 3] * matrix[i + 3, j])
        for i in range(whole, len(x)):
            total += x[i] * matrix[i, j]
        out[j] = total
    meet()


@kernel_with(columns_times)
def transpose_times(matrix: Matrix, x: Vector, out: Vector) -> None:
    """Write matrix' . x, row by row."""
    whole = len(x) // 4 * 4
    for j in range(len(out)):
        out[j] = 0.0
    for i in range(0, whole, 4):
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(len(out)):
            left = a * matrix[i, j] + b * matrix[i + 1, j]
            out[j] += left + (c * matrix[i + 2, j] + d * matrix[i + 3, j])
    for i in range(whole, len(x)):
        for j in range(len(out)):
            out[j] += x[i] * matrix[i, j]


def add_outer_columns(matrix: Matrix, scale: float, x: Vector, y: Vector) -> None:
    """Add scale * x y', each lane to some columns, of as many rows as there are."""
    meet()
    for j in turns(len(y)):
        for i in range(len(matrix)):
            matrix[i, j] += (scale * x[i]) * y[j]
    meet()


@kernel_with(add_outer_columns)
def add_outer(matrix: Matrix, scale: float, x: Vector, y: Vector) -> None:
    """Add scale * x y' to `matrix`, to as many rows as it has."""
    for i in range(len(matrix)):
        weight = scale * x[i]
        for j in range(len(y)):
            matrix[i, j] += weight * y[j]
