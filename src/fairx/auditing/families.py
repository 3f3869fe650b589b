"""Merits that leave one number unknown when they are inverted: those that pseudo-rewards judge by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.merit import Affine, Exponential, Merit, Power
from fairx.types import Vector

LEAST = 1e-12  # of the rest that merit shares out, for an arm that has no more than its floor

FARTHEST = 1e9  # merits with a floor: 1e3 arms have parts above the least then


class Family(NamedTuple):
    """A merit that leaves one number unknown when it is inverted, for rewards from 0 to 1.

    It is exp(steepness mean) where the steepness is not 0, else (mean + offset)**exponent;
    `floor` is what each arm has of every decision before merit shares out the rest.
    """

    steepness: float
    offset: float
    exponent: float
    floor: float

    @property
    def spread(self) -> float:
        """How many times the merit of mean 0 that of mean 1 is."""
        if self.steepness:
            return float(np.exp(min(self.steepness, 700.0)))
        return float((1 + 1 / self.offset) ** self.exponent) if self.offset > 0 else np.inf

    def inverted(self, parts: Vector) -> tuple[Vector, Vector]:
        """Return directions d and starts k: arms with these parts have means k + q d, for one q."""
        if self.steepness:
            return np.ones(parts.size), np.log(parts) / self.steepness
        return parts ** (1 / self.exponent), np.full(parts.size, -self.offset)


def family(merit: Merit, reward_range: tuple[float, float], floor: float) -> Family | None:
    """Return what pseudo-rewards need of a merit, or None where they cannot speak.

    With a floor, merits that are too far apart leave some arms so little more than it that it is
    lost to rounding.

    Examples
    --------
    >>> family(Exponential(4), (0.0, 2.0), 0.0)
    Family(steepness=8.0, offset=0.0, exponent=1.0, floor=0.0)
    >>> family(Affine(2, 1), (0.0, 1.0), 0.0)
    Family(steepness=0.0, offset=0.5, exponent=1.0, floor=0.0)
    """
    form = _form(merit, *reward_range, floor)
    return None if form is None or (floor and form.spread > FARTHEST) else form


def _form(merit: Merit, low: float, high: float, floor: float) -> Family | None:
    if type(merit) is Exponential:
        steepness = merit.steepness * (high - low)
        return Family(steepness, 0.0, 1.0, floor) if steepness else None
    if type(merit) is Affine and merit.slope:
        return Family(0.0, (merit.intercept / merit.slope + low) / (high - low), 1.0, floor)
    if type(merit) is Power and merit.exponent:
        return Family(0.0, (merit.offset + low) / (high - low), float(merit.exponent), floor)
    return None
