"""Least squares from sums, rounded so that the last bits of a machine's algebra do not show."""

from __future__ import annotations

import numpy as np

from fairx.types import Matrix, Vector

GRID = 2.0**20  # values are multiples of its inverse
CUT_OFF = 1e-10  # of the largest eigenvalue: what lies below is rounding


def solved(gram: Matrix, sums: Vector) -> Vector:
    """Return the parameter of least norm that solves gram . parameter = sums, on the grid.

    Examples
    --------
    >>> solved(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([1.0, 0.0]))
    array([0.5, 0. ])
    """
    parameter = np.linalg.lstsq(gram, sums, rcond=CUT_OFF)[0]
    return np.asarray(np.rint(parameter * GRID) / GRID, np.float64)
