"""Intervals for means that are the narrower the less rewards vary, and hold at every look."""

from __future__ import annotations

import numpy as np

from fairx.types import Vector

from .always_valid import Intervals, always_valid
from .wealth import BETS, lowest

COINS = 0.9  # the part of alpha for rewards that vary as those of a coin; the rest is for others
CENTRES = np.linspace(0.0, 1.0, 17)  # one of which is near the mean
STAKES = -np.log(np.arange(BETS.size) + 3.0) - np.log((1 / (np.arange(BETS.size) + 3.0)).sum())


def means_within(
    sums: Vector, squares: Vector, counts: Vector, alpha: float, low: float, high: float
) -> Intervals:
    """Return intervals that contain each average mean at all times, from sums and sums of squares.

    Notes
    -----
    Both `always_valid` and an empirical Bernstein bound have a part of alpha, and the better end of
    the two is taken. For a fixed y and bet b, exp(b (x - y) - c(b) (x - y)**2) <= 1 + b (x - y),
    c(b) = -log(1 - b) - b, so that the squares about any y tell how much values vary: 17 values of
    y share the error, and the two that are nearest to the mean are asked.

    Examples
    --------
    >>> counts = np.array([1000.0])
    >>> sure = means_within(0.3 * counts, 0.0901 * counts, counts, 0.05, 0.0, 1.0)
    >>> coin = means_within(0.3 * counts, 0.3 * counts, counts, 0.05, 0.0, 1.0)
    >>> sure.low.round(3), coin.low.round(3)
    (array([0.288]), array([0.249]))
    """
    span = high - low
    total, second = scaled(sums, squares, counts, low, high)
    plain = always_valid(sums, counts, COINS * alpha, low, high)
    error = (1 - COINS) * alpha / 2 / CENTRES.size
    least = _lower(total, second, counts, error)
    most = 1 - _lower(counts - total, counts - 2 * total + second, counts, error)
    return Intervals(
        np.maximum(plain.low, low + span * least), np.minimum(plain.high, low + span * most)
    )


def scaled(
    sums: Vector, squares: Vector, counts: Vector, low: float, high: float
) -> tuple[Vector, Vector]:
    """Return sums and sums of squares of rewards as they would be with a range from 0 to 1.

    Examples
    --------
    >>> scaled(np.array([3.0]), np.array([5.0]), np.array([2.0]), 1.0, 3.0)
    (array([0.5]), array([0.25]))
    """
    span = high - low
    total = np.asarray((sums - counts * low) / span)
    with np.errstate(all="ignore"):  # squares of a range that is very wide, or hardly one
        second = (squares - 2 * low * sums + counts * (low * low)) / (span * span)
    return total, np.where(np.isfinite(second), second, total)  # as large as it can be


def _lower(sums: Vector, squares: Vector, counts: Vector, error: float) -> Vector:
    """Return lower ends of means of values from 0 to 1, 0 where nothing is known."""
    known = np.maximum(counts, 1.0)
    step = CENTRES[1]
    below = np.clip(np.floor(sums / known / step), 0, CENTRES.size - 2).astype(np.int64)
    found = np.zeros(sums.shape)
    for centre in (CENTRES[below], CENTRES[below + 1]):
        about = np.maximum(squares - 2 * centre * sums + counts * centre**2, 0.0)
        ends = lowest(np.array([sums - counts * centre, about]), STAKES, error)
        found = np.maximum(found, centre + ends / known)
    return np.where(counts > 0, np.minimum(found, sums / known), 0.0)
