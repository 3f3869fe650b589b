"""Some slates in their order, and the blocks of arms that share places of a page."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.types import Indices, Vector

NEAR = (
    1e-3  # of the first weight: arms that are as near to having all of the first places have them
)


class Slates(NamedTuple):
    """Some decisions in their order; entries are their candidates, one decision after another."""

    starts: Indices  # the first entry of each decision
    arms: Indices  # of each entry
    exposures: Vector  # of each entry
    firsts: Indices  # the first place of each decision
    shown: Indices  # the entry that is shown at each place
    weights: Vector  # of each place
    rewards: Vector  # from 0 to 1, NaN where missing: of each place

    @property
    def sizes(self) -> Indices:
        """How many candidates each decision has."""
        return np.diff(self.starts, append=self.arms.size)

    @property
    def places(self) -> Indices:
        """How many places each decision has."""
        return np.diff(self.firsts, append=self.weights.size)

    def merited(self, floor: float) -> Vector:
        """Return the exposures that the page would have without a floor, its part of all weight."""
        if not floor:
            return self.exposures
        whole = np.add.reduceat(self.weights, self.firsts)
        least, rest = floor * whole, 1 - floor * self.sizes
        row = np.repeat(np.arange(self.starts.size), self.sizes)
        return np.maximum((self.exposures - least[row]) / rest[row], 0.0)

    def part(self, first: int, last: int) -> Slates:
        """Return the decisions from one on and up to another."""
        entries = slice(self.starts[first], np.append(self.starts, self.arms.size)[last])
        places = slice(self.firsts[first], np.append(self.firsts, self.weights.size)[last])
        return Slates(
            self.starts[first:last] - entries.start,
            self.arms[entries],
            self.exposures[entries],
            self.firsts[first:last] - places.start,
            self.shown[places] - entries.start,
            self.weights[places],
            self.rewards[places],
        )


class Blocks(NamedTuple):
    """Arms that share places, one block after another; entries are sorted for it.

    Within a block of a fair page exposure is in proportion to merit. Parts of a fair block are as
    good: these are the finest that exposures tell.
    """

    order: Indices  # the entry that is at each point
    row: Indices  # the decision of each point
    starts: Indices  # the first point of each block
    block: Indices  # of each point
    number: Indices  # of each block among those of its page, from the first places on

    @property
    def sizes(self) -> Indices:
        """How many arms each block has."""
        return np.diff(self.starts, append=self.order.size)


def blocks(some: Slates, exposures: Vector) -> Blocks:
    """Divide candidates where so many arms have all of as many first places, by exposures less floors.

    Examples
    --------
    >>> one = Slates(np.array([0]), np.arange(4), np.array([0.1, 1.0, 0.2, 0.2]), np.array([0]),
    ...              np.array([1, 2]), np.array([1.0, 0.5]), np.ones(2))
    >>> found = blocks(one, one.exposures)
    >>> found.order, found.block
    (array([1, 2, 3, 0]), array([0, 1, 1, 1]))
    """
    row = np.repeat(np.arange(some.starts.size), some.sizes)
    order = np.lexsort((-exposures, row))
    rank = np.arange(row.size) - some.starts[row]
    had = running(exposures[order], some.starts)
    there = rank < np.minimum(some.places, some.sizes - 1)[row]
    at = np.minimum(some.firsts[row] + rank, some.weights.size - 1)
    room = running(some.weights, some.firsts)[at] - NEAR * some.weights[some.firsts][row]
    begins = np.append(True, (there & (had >= room))[:-1]) | (rank == 0)
    block, starts = np.cumsum(begins) - 1, np.flatnonzero(begins)
    return Blocks(
        order, row, starts, block, np.arange(starts.size) - block[some.starts][row[starts]]
    )


def running(values: Vector, starts: Indices) -> Vector:
    """Return the sums of values up to each, from the start of its own segment on."""
    whole = np.cumsum(values)
    sizes = np.diff(starts, append=values.size)
    found: Vector = whole - np.repeat(whole[starts] - values[starts], sizes)
    return found
