"""Fair exposures of pages, and their ends over a box of merits."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from fairx.auditing.always_valid import Intervals
from fairx.compiled import entry
from fairx.slates import new_page
from fairx.slates.target import expose, pool, ready_to_fill
from fairx.types import Indices, Vector


class PageKind(NamedTuple):
    """Decisions among the same arms, on places of the same weights."""

    arms: Indices  # their numbers
    weights: Vector
    decisions: float
    floor: float = 0.0  # the part of all weight that each arm has before merit shares out the rest

    @property
    def least(self) -> float:
        """The exposure that each arm has whatever its merit."""
        return self.floor * float(self.weights[: self.arms.size].sum())

    @property
    def rest(self) -> float:
        """What of all exposure is left for merit to share out, as a part of it."""
        return 1.0 - self.floor * self.arms.size


@entry
def fill_ends(inside, outside, groups, number, page, out, ends):  # type: ignore[no-untyped-def]
    """Write the exposure of each group when it has the merits `inside`, and all others `outside`."""
    logs = page.logs[: len(inside)]
    for group in range(number):
        for i in range(len(inside)):
            logs[i] = inside[i] if groups[i] == group else outside[i]
        expose(logs, page, pool(logs, page), out)
        ends[group] = 0.0
        for i in range(len(inside)):
            ends[group] += out[i] if groups[i] == group else 0.0


@functools.cache
def _ready() -> Any:
    page, one, groups = new_page(np.ones(1), 1), np.zeros(1), np.zeros(1, np.int64)
    rest = (one, one, groups, 1, page, np.empty(1), np.empty(1))
    return fill_ends.ready((), lambda run, _: run(*rest))[0]


def exposures_of(kind: PageKind, logs: Vector) -> Vector:
    """Return the fair exposures of the arms of a page, by the logarithms of all merits."""
    page, out = new_page(kind.weights, kind.arms.size, whole=0), np.empty(kind.arms.size)
    page.logs[:] = logs[kind.arms]
    ready_to_fill()(page, out)
    return kind.least + kind.rest * out


def exposure_box(kind: PageKind, logs: Intervals, groups: Indices) -> Intervals:
    """Return the lowest and highest fair exposure of each group of arms over a box of log merits.

    Fair exposures minimise the sum of x² / f over all that rankings can have, which is the base of a
    submodular function: raising one merit raises that arm's exposure and no other's. So a
    group has the least where its own merits are lowest and all others highest: at a corner.

    Examples
    --------
    >>> kind = PageKind(np.arange(3), np.array([1.0, 0.5]), 1.0)
    >>> box = Intervals(np.log([1.0, 1.0, 1.0]), np.log([1.0, 1.0, 4.0]))
    >>> low, high = exposure_box(kind, box, np.arange(3))
    >>> low.round(3), high.round(3)
    (array([0.25, 0.25, 0.5 ]), array([0.5, 0.5, 1. ]))
    """
    own, number = groups[kind.arms], int(groups.max()) + 1
    low, high = logs.low[kind.arms], logs.high[kind.arms]
    page, out = new_page(kind.weights, kind.arms.size, whole=0), np.empty(kind.arms.size)
    ends = Intervals(np.empty(number), np.empty(number))
    _ready()(low, high, own, number, page, out, ends.low)
    _ready()(high, low, own, number, page, out, ends.high)
    least = kind.least * np.bincount(own, minlength=number)
    return Intervals(*(least + kind.rest * end for end in ends))
