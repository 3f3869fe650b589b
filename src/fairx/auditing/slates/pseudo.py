"""Pseudo-rewards of slates: contrasts within blocks of arms, by exposures alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.auditing.implied import LEAST, Family, guessed, impossible
from fairx.auditing.shares import summed
from fairx.types import Indices, Vector

from .pages import Blocks, Slates, blocks, running


class SlateValues(NamedTuple):
    """What the entries of some slates add; values are from -1 to 1, with mean 0 where it is fair."""

    row: Indices
    arms: Indices
    value: Vector
    least: Vector  # with the missing rewards that make it least
    most: Vector
    counter: Vector  # what the value of an arm has on average that lacks one unit
    parts: Vector  # of its block
    contrasted: Vector  # exposure, where another arm is in its block
    bound: Vector


class Told(NamedTuple):
    """What some slates say: values, levels of rewards, and which cannot be fair."""

    values: SlateValues
    number: Indices  # of blocks whose rewards came
    seen: Vector  # what the means of these blocks average to, as their rewards say
    impossible: npt.NDArray[np.bool_]
    missing: int


class Implied(NamedTuple):
    """The implied means of the arms of blocks, and how far rewards may be from them."""

    means: Vector
    shares: Vector  # u
    parts: Vector
    own: Vector


def slate_values(some: Slates, merit: Family, levels: Vector, clicks: bool) -> Told:
    """Return the pseudo-rewards of slates, given the levels of rewards that were seen before.

    In a fair block f(mean of a) = kappa x(a), with one unknown kappa. Let e be weight (reward - implied
    mean) of a place, or click - weight (implied mean), and u(a) the part of the arm, as for one place.
    Then the e of arm a less u(a) times all e of its block has mean
    x(a) (kappa - q) d(a) - u(a) (sum of the same) = 0, whatever the means are: only exposures are needed.
    """
    merited, missing = some.merited(merit.floor), np.isnan(some.rewards)
    found = blocks(some, merited)
    held = _implied(some, found, merited[found.order], merit, levels)
    point = np.empty(found.order.size, np.int64)
    point[found.order] = np.arange(found.order.size)
    at = point[some.shown]
    errors = _errors(some, held.means[at], clicks)
    bound = _bounds(some, found, held, merit, clicks)
    each = [summed(at, part, found.order.size) for part in errors]
    counter = some.exposures[found.order] * (1 - held.shares) * _came(some, missing)[found.row]
    if not merit.steepness:
        counter = _owed(some, found, held, at, errors[0], merit)
    value, least, most = _contrasts(found, held, *each)
    alone = found.sizes[found.block] == 1
    told = SlateValues(
        row=found.row,
        arms=some.arms[found.order],
        value=value / bound,
        least=least / bound,
        most=most / bound,
        counter=counter / bound,
        parts=held.parts,
        contrasted=np.where(alone, 0.0, some.exposures[found.order]),
        bound=bound,
    )
    number, seen = _seen(some, found, held, each[0], at[missing])
    closed = impossible(merited, some.starts, merit._replace(floor=0.0))
    return Told(told, number, seen, closed, int(missing.sum()))


def _contrasts(
    found: Blocks, held: Implied, errors: Vector, least: Vector, most: Vector
) -> tuple[Vector, Vector, Vector]:
    """Return errors beside those of the block: as known, and least and most whatever is missing."""
    whole, low, high = (
        np.add.reduceat(part, found.starts)[found.block] for part in (errors, least, most)
    )
    u = held.shares
    return (
        errors - u * whole,
        (1 - u) * least - u * (high - most),
        (1 - u) * most - u * (low - least),
    )


def _owed(
    some: Slates, found: Blocks, held: Implied, at: Indices, errors: Vector, merit: Family
) -> Vector:
    """Return what others of the block have for their merit, in units of an arm: of powers."""
    there = ~np.isnan(some.rewards)
    owed = there * (errors + some.weights * (held.means[at] + merit.offset))
    mine = summed(at, owed, found.order.size)
    return np.asarray(held.shares * (np.add.reduceat(mine, found.starts)[found.block] - mine))


def grouped(values: SlateValues, groups: Indices, number: int) -> SlateValues:
    """Return the entries of one group and slate as one, bounded by the sum of their bounds."""
    keys, at = np.unique(values.row * number + groups[values.arms], return_inverse=True)
    row, labels = np.divmod(keys, number)
    bound = summed(at, values.bound, keys.size)
    value, least, most, counter = (
        summed(at, values.bound * part, keys.size) / bound for part in values[2:6]
    )
    shared = summed(at, values.bound * values.counter * values.parts, keys.size) / bound
    parts = shared / np.where(counter > 0, counter, 1.0)
    contrasted = summed(at, values.contrasted, keys.size)
    return SlateValues(row, labels, value, least, most, counter, parts, contrasted, bound)


def _implied(
    some: Slates, found: Blocks, merited: Vector, merit: Family, levels: Vector
) -> Implied:
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


def _errors(some: Slates, means: Vector, clicks: bool) -> tuple[Vector, Vector, Vector]:
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


def _bounds(some: Slates, found: Blocks, held: Implied, merit: Family, clicks: bool) -> Vector:
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
