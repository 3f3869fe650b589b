"""What fair blocks imply of means, how far rewards are from it, and how far they can be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.auditing.families import LEAST, Family
from fairx.auditing.implied import guessed
from fairx.types import Vector

from .pages import Blocks, Slates, running


class Implied(NamedTuple):
    """The implied means of the arms of blocks, and how far rewards may be from them."""

    means: Vector
    shares: Vector  # u
    parts: Vector
    own: Vector


def implied(some: Slates, found: Blocks, merited: Vector, merit: Family, levels: Vector) -> Implied:
    """Return implied means, by what merit has given; arms weigh by all that they have."""
    parts, chances = (
        part / np.maximum(np.add.reduceat(part, found.starts), LEAST)[found.block]
        for part in (merited, some.exposures[found.order])
    )
    directions, ends = merit.inverted(np.maximum(parts, LEAST))
    weights = chances * directions
    total = np.maximum(np.add.reduceat(weights, found.starts), LEAST)
    level = levels[found.number]
    guess = guessed(parts, found.starts, directions, ends, total, level, chances)
    means = ends + guess[found.block] * directions
    own = np.where(chances > 0, np.maximum(np.abs(means), np.abs(1 - means)), 0.5)
    return Implied(means, weights / total[found.block], chances, own)


def errors_of(some: Slates, means: Vector, clicks: bool) -> tuple[Vector, Vector, Vector]:
    """Return how far rewards are from implied means, by the weight of places.

    Those that are missing are 0, least and most.
    """
    if clicks:
        ends = [end - some.weights * means for end in (some.rewards, 0.0, 1.0)]
    else:
        ends = [some.weights * (end - means) for end in (some.rewards, 0.0, 1.0)]
    missing = np.isnan(some.rewards)
    low, high = (np.where(missing, end, ends[0]) for end in ends[1:])
    return np.where(missing, 0.0, ends[0]), low, high


def bounds_of(some: Slates, found: Blocks, held: Implied, merit: Family, clicks: bool) -> Vector:
    """Return what no value is beyond, whichever arms of a block are shown and where.

    An arm at a place that counts s adds (1 - u) s own at most, and the others u (all - s) top: that is
    linear in s, and largest where s is the first place or none.
    """
    scale = np.ones(some.weights.size) if clicks else some.weights
    own = np.maximum(held.own, 1.0) if clicks else held.own
    top = np.maximum.reduceat(own, found.starts)[found.block]
    row = found.row[found.starts]
    places = np.minimum(found.sizes, some.places[row])
    whole = running(scale, some.firsts)[some.firsts[row] + places - 1][found.block]
    first = scale[some.firsts][found.row]
    # Of a power, also what is owed is bounded: by 1 + 2 offset, as that of one place.
    least = (1 + merit.offset) / (1 + 2 * merit.offset) if not merit.steepness else 0.0
    shown = first * (1 - held.shares) * own + held.shares * (whole - first) * top
    bound: Vector = np.maximum(shown, held.shares * whole * np.maximum(top, least))
    return np.maximum(bound, LEAST)
