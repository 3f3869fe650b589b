"""How many rewards should decide about an estimate, by the propensities that the log has."""

from __future__ import annotations

import numpy as np

from .gathering import Gathered
from .logged import PIECE
from .terms import Terms


def foreseen(terms: Terms, found: Gathered) -> float:
    """Return how many rewards would decide had each arm been shown as often as propensities say.

    Where the arm that counts most was shown too seldom by chance, the others look like enough, and just
    there the estimate is off. What an arm's weights add up to is, on average, what the policy shows it:
    by the ratio of the two its rewards are counted.
    """
    rows, arms = found.rows, len(found.exposures)
    sums, largest = np.zeros((3, arms)), max(float(np.abs(terms.coefficients).max()), 1e-300)
    for start in range(0, len(rows.arms), PIECE):
        some = slice(start, start + PIECE)
        squares = np.square(terms.coefficients[some] / largest)
        for one, column in zip(sums, (rows.weights[some], squares, squares**2), strict=True):
            one += np.bincount(rows.arms[some], column, arms)
    shown = sums[0] > 0
    often = len(rows.arms) * found.exposures[shown] / sums[0, shown]
    second, fourth = float(often @ sums[1, shown]), float(often @ sums[2, shown])
    return second**2 / fourth if fourth else 0.0
