"""Intervals for one look at the log: normal, and bootstrap by unit."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from fairx import rules
from fairx.types import Indices, Vector

from .terms import Terms

TOGETHER = 4_000_000  # numbers drawn at a time


def standard_error(terms: Terms) -> float:
    """Return the standard error of a ratio, by the delta method, units being independent."""
    parts = deviations(terms)
    rules.count("the number of units (of decisions, where none are given)", parts.size, low=2)
    largest = max(float(np.abs(parts).max()), 1e-300)  # whose square may be too large for a number
    spread = math.sqrt(parts.size * (parts / largest).var(ddof=1))
    return float(largest * spread / abs(terms.denominators.sum()))


def deviations(terms: Terms) -> Vector:
    """Return what each unit adds to the estimate, less what it would add if it were as the others."""
    found = terms.estimate() * terms.denominators
    return by_unit(terms.units, np.subtract(terms.numerators, found, out=found))


def normal(terms: Terms, alpha: float) -> tuple[float, float]:
    """Return the estimate plus and minus its standard errors.

    How many is by Student's t: its degrees of freedom are those of a standard error that varies as
    this one does (Satterthwaite).

    Examples
    --------
    >>> terms = Terms(np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4), None, np.ones(4))
    >>> low, high = normal(terms, alpha=0.05)
    >>> round(low, 3), round(high, 3)
    (-0.066, 1.066)
    """
    reach = _quantile(alpha, deviations(terms)) * standard_error(terms)
    return terms.estimate() - reach, terms.estimate() + reach


def _quantile(alpha: float, parts: Vector) -> float:
    """Return the quantile of t, by its expansion about the normal one; few units have a larger one."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    squares = np.square(parts / max(float(np.abs(parts).max()), 1e-300))
    total = float(squares.sum()) ** 2
    share = float(squares @ squares) / total - 1 / parts.size if total else 0.0
    each = max(share, 0.0) / 2  # 1 / degrees of freedom
    first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first * each + second * each**2


def bootstrap(terms: Terms, alpha: float, resamples: int, seed: int | None) -> tuple[float, float]:
    """Return percentiles of the estimate over logs drawn unit by unit from the units there are."""
    rng = np.random.default_rng(rules.count("seed (the bootstrap draws at random)", seed, low=0))
    units = [by_unit(terms.units, part) for part in (terms.numerators, terms.denominators)]
    number = units[0].size
    found: list[Vector] = []
    left = rules.count("resamples", resamples, low=math.ceil(2 / alpha))  # one beyond either end
    while left:
        size = min(left, max(1, TOGETHER // number))
        drawn = rng.integers(number, size=(size, number), dtype=np.int32)
        top, bottom = (part.take(drawn).sum(axis=1) for part in units)
        found.append(top / np.where(bottom == 0, np.nan, bottom))
        left -= size
    ends = [alpha / 2, 1 - alpha / 2]
    low, high = np.nanquantile(np.concatenate(found), ends)  # none accepted: no estimate
    return float(low), float(high)


def by_unit(units: Indices | None, values: Vector) -> Vector:
    """Return the sum of the values of each unit."""
    if units is None:
        return values
    _, numbers = np.unique(units, return_inverse=True)
    return np.bincount(numbers, values).astype(np.float64)
