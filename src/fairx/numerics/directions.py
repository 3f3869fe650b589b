"""Directions as a GPU likes them: a word's first bits tell the quarter of a turn, and short polynomials the rest."""

from __future__ import annotations

import math

import numpy as np

from fairx.compiled import kernel

from .tables import HALF, WORD, lower, number_of, shortened, upper

MOST = (math.pi / 4) ** 2
(S3, S5, S7, S9, S11, S13) = shortened(
    np.array([(-1.0) ** i / math.factorial(2 * i + 3) for i in range(12)]), 0.0, MOST, 6
)
(K2, K4, K6, K8, K10, K12) = shortened(
    np.array([(-1.0) ** i / math.factorial(2 * i + 2) for i in range(12)]), 0.0, MOST, 6
)


@kernel
def short_sine(t: float, t2: float) -> float:
    """Return the sine of `t`, whose square is `t2`, for at most an eighth of a turn, in fewer terms.

    Examples
    --------
    >>> round(short_sine(0.5, 0.25), 15)
    0.479425538604203
    """
    return t - t * t2 * (S3 + t2 * (S5 + t2 * (S7 + t2 * (S9 + t2 * (S11 + t2 * S13)))))


@kernel
def short_cosine(t2: float) -> float:
    """Return the cosine of what has this square, for at most an eighth of a turn, in fewer terms.

    Examples
    --------
    >>> round(short_cosine(0.25), 15)
    0.877582561890373
    """
    return 1.0 - t2 * (K2 + t2 * (K4 + t2 * (K6 + t2 * (K8 + t2 * (K10 + t2 * K12)))))


FIVE_EIGHTHS = np.uint32(
    5 << 29
)  # of a turn: words begin at half of one, and quarters an eighth before
SIGN = 1 << 31
QUARTER = math.pi / 2


@kernel
def direction_by_quarters(bits: np.uint64) -> tuple[float, float]:
    """Return the sine and cosine of the turn that a word stands for, whose first two bits tell the quarter.

    Examples
    --------
    >>> with np.errstate(over="ignore"):  # whole numbers wrap around, on purpose
    ...     direction_by_quarters(np.uint64(1 << 63))
    (0.0, 1.0)
    """
    quarter, low = np.uint32(np.uint32(bits >> WORD) + FIVE_EIGHTHS), np.uint32(bits & HALF)
    first = np.uint32(
        ((quarter >> 10) & 0xFFFFF) | 0x3FF00000
    )  # what is behind those bits, from 1 to 2
    second = np.uint32(((low >> 10) | np.uint32(quarter << 22)) & 0xFFFFFFFC)
    t = (number_of(first, second) - 1.5) * QUARTER
    near, far = short_sine(t, t * t), short_cosine(t * t)
    odd = np.uint32(quarter << 1)  # its first bit tells
    if odd >= SIGN:
        near, far = far, near
    sine = number_of(np.uint32(upper(near) ^ np.uint32(quarter & SIGN)), lower(near))
    other = np.uint32(np.uint32(quarter ^ odd) & SIGN)
    return sine, number_of(np.uint32(upper(far) ^ other), lower(far))
