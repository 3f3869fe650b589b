"""Pseudo-rewards of slates: contrasts within blocks of arms, by exposures alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.auditing.families import LEAST, Family
from fairx.auditing.implied import impossible
from fairx.auditing.shares import summed
from fairx.types import Indices, Vector

from .implying import Implied, bounds_of, errors_of, implied
from .pages import Blocks, Slates, blocks


class Points(NamedTuple):
    """The arms of blocks, or groups of them: what each adds to a contrast with the others of its block."""

    row: Indices
    block: Indices
    arms: Indices
    shares: Vector  # u
    errors: Vector
    least: Vector  # errors with the missing rewards that make them least
    most: Vector
    exposures: Vector
    came: Vector  # exposure as far as rewards came
    owed: Vector  # what the arm has for its merit, of powers
    parts: Vector  # of its block
    bound: Vector


class SlateValues(NamedTuple):
    """What the entries of some slates add; values are from -1 to 1, with mean 0 where it is fair."""

    arms: Indices
    value: Vector
    least: Vector  # with the missing rewards that make it least
    most: Vector
    counter: Vector  # what the value of an arm has on average that lacks one unit
    shared: Vector  # counters times parts
    contrasted: Vector  # exposure, where another arm is in its block


class Told(NamedTuple):
    """What some slates say: points, levels of rewards, and which cannot be fair."""

    points: Points
    number: Indices  # of blocks whose rewards came
    seen: Vector  # what the means of these blocks average to, as their rewards say
    impossible: npt.NDArray[np.bool_]
    missing: int


def told_by(some: Slates, merit: Family, levels: Vector, clicks: bool) -> Told:
    """Return the pseudo-rewards of slates, given the levels of rewards that were seen before.

    In a fair block f(mean of a) = kappa x(a), with one unknown kappa. Let e be weight (reward - implied
    mean) of a place, or click - weight (implied mean), and u(a) the part of the arm, as for one place.
    Then the e of arm a less u(a) times all e of its block has mean
    x(a) (kappa - q) d(a) - u(a) (sum of the same) = 0, whatever the means are: only exposures are needed.
    """
    merited, missing = some.merited(merit.floor), np.isnan(some.rewards)
    found = blocks(some, merited)
    held = implied(some, found, merited[found.order], merit, levels)
    point = np.empty(found.order.size, np.int64)
    point[found.order] = np.arange(found.order.size)
    at = point[some.shown]
    errors = errors_of(some, held.means[at], clicks)
    each = [summed(at, part, found.order.size) for part in errors]
    exposures = some.exposures[found.order]
    points = Points(
        row=found.row,
        block=found.block,
        arms=some.arms[found.order],
        shares=held.shares,
        errors=each[0],
        least=each[1],
        most=each[2],
        exposures=exposures,
        came=exposures * _came(some, missing)[found.row],
        owed=_owed(some, held.means[at], at, errors[0], merit, found.order.size),
        parts=held.parts,
        bound=bounds_of(some, found, held, merit, clicks),
    )
    number, seen = _seen(some, found, held, each[0], at[missing])
    closed = impossible(merited, some.starts, merit._replace(floor=0.0))
    return Told(points, number, seen, closed, int(missing.sum()))


def values_of(points: Points, exact: bool) -> SlateValues:
    """Return the contrast of each arm with the others of its block.

    An arm that lacks one unit of reward has exposure (1 - u) on average; of a power, what others have for their
    merit tells the unit.
    """
    blocks_there, u = int(points.block[-1]) + 1, points.shares
    whole, low, high, owed = (
        summed(points.block, part, blocks_there)[points.block]
        for part in (points.errors, points.least, points.most, points.owed)
    )
    counter = points.came * (1 - u) if exact else u * (owed - points.owed)
    several = (np.bincount(points.block) > 1)[points.block]
    return SlateValues(
        points.arms,
        (points.errors - u * whole) / points.bound,
        ((1 - u) * points.least - u * (high - points.most)) / points.bound,
        ((1 - u) * points.most - u * (low - points.least)) / points.bound,
        counter / points.bound,
        counter * points.parts / points.bound,
        np.where(several, points.exposures, 0.0),
    )


def grouped(points: Points, groups: Indices, number: int, exact: bool) -> SlateValues:
    """Return the values of groups, bounded by the sum of the bounds of their arms.

    The arms of one group and block are one point; the points of one page are one value, since only
    values of different pages may be bet on one after the other.
    """
    keys, at = np.unique(points.block * number + groups[points.arms], return_inverse=True)
    block, labels = np.divmod(keys, number)
    row = np.zeros(block.size, np.int64)
    row[at] = points.row
    sums = [summed(at, part, keys.size) for part in points[3:]]
    joined = Points(row, block, labels, *sums)
    found = values_of(joined._replace(bound=np.ones(keys.size)), exact)
    pages, to = np.unique(row * number + labels, return_inverse=True)
    bound = summed(to, joined.bound, pages.size)
    value, least, most, counter, shared = (
        summed(to, part, pages.size) / bound for part in found[1:6]
    )
    contrasted = summed(to, found.contrasted, pages.size)
    return SlateValues(pages % number, value, least, most, counter, shared, contrasted)


def _owed(
    some: Slates, means: Vector, at: Indices, errors: Vector, merit: Family, size: int
) -> Vector:
    """Return what each arm that was shown has for its merit, where its reward came: of powers."""
    if merit.steepness:
        return np.zeros(size)
    owed = errors + some.weights * (means + merit.offset)
    return summed(at, np.where(np.isnan(some.rewards), 0.0, owed), size)


def _came(some: Slates, missing: npt.NDArray[np.bool_]) -> Vector:
    """Return the part of each page's weight whose rewards came."""
    whole = np.add.reduceat(some.weights, some.firsts)
    return np.asarray(np.add.reduceat(np.where(missing, 0.0, some.weights), some.firsts) / whole)


def _seen(
    some: Slates, found: Blocks, held: Implied, errors: Vector, lost: Indices
) -> tuple[Indices, Vector]:
    """Return what the means of blocks average to: what was shown by chance makes no difference."""
    exposures = some.exposures[found.order]
    whole = np.add.reduceat(exposures, found.starts)
    there = whole > LEAST
    there[found.block[lost]] = False
    average = np.add.reduceat(held.parts * held.means, found.starts)
    off = np.add.reduceat(errors, found.starts) / np.maximum(whole, LEAST)
    return found.number[there], (average + off)[there]
