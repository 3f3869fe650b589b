"""Intervals for one look at the log: normal, and bootstrap by unit."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from fairx import rules
from fairx.types import Matrix, Vector

from .terms import Terms

TOGETHER = 4_000_000  # numbers drawn at a time


def standard_error(terms: Terms) -> float:
    """Return the standard error of a ratio, by the delta method, units being independent."""
    spread = _by_unit(terms)
    parts = spread[0] - terms.estimate() * spread[1]
    rules.count("the number of units (of decisions, where none are given)", parts.size, low=2)
    return float(math.sqrt(parts.size * parts.var(ddof=1)) / abs(spread[1].sum()))


def normal(terms: Terms, alpha: float) -> tuple[float, float]:
    """Return the estimate plus and minus its standard errors.

    Examples
    --------
    >>> terms = Terms(np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4), np.arange(4))
    >>> low, high = normal(terms, alpha=0.05)
    >>> round(low, 3), round(high, 3)
    (-0.066, 1.066)
    """
    reach = NormalDist().inv_cdf(1 - alpha / 2) * standard_error(terms)
    return terms.estimate() - reach, terms.estimate() + reach


def bootstrap(terms: Terms, alpha: float, resamples: int, seed: int | None) -> tuple[float, float]:
    """Return percentiles of the estimate over logs drawn unit by unit from the units there are."""
    rng = np.random.default_rng(rules.count("seed (the bootstrap draws at random)", seed, low=0))
    units = _by_unit(terms)
    found: list[Vector] = []
    left = rules.count("resamples", resamples, low=2)
    while left:
        size = min(left, max(1, TOGETHER // units.shape[1]))
        drawn = rng.integers(units.shape[1], size=(size, units.shape[1]), dtype=np.int32)
        top, bottom = (part.take(drawn).sum(axis=1) for part in units)
        found.append(top / np.where(bottom == 0, np.nan, bottom))
        left -= size
    ends = [alpha / 2, 1 - alpha / 2]
    low, high = np.nanquantile(np.concatenate(found), ends)  # none accepted: no estimate
    return float(low), float(high)


def _by_unit(terms: Terms) -> Matrix:
    """Return the sums of numerators and denominators of each unit."""
    if len(terms.units) == 1 + terms.units[-1] and (np.diff(terms.units) == 1).all():
        return np.stack([terms.numerators, terms.denominators])
    _, units = np.unique(terms.units, return_inverse=True)
    parts = (terms.numerators, terms.denominators)
    return np.stack([np.bincount(units, part) for part in parts])
