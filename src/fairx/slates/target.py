"""The fair exposures of several places: in proportion to merit, as far as places reach."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import entry, kernel
from fairx.merit import Merit, merit_given
from fairx.numerics.elementary import exp, log
from fairx.types import Vector

from .places import Page, new_page, place_weights
from .ranking import pick_top

TINY = 1e-300  # the least number that our logarithm takes
MANY = 20_000  # arms for which compiling pays


def fair_exposure(merit: Merit, means: npt.ArrayLike, weights: Any) -> Vector:
    """Return the fair exposures of all arms, the expected weight of the place of each.

    They sum to the sum of `weights`. Exposure is in proportion to merit where that can be had: no m
    arms together can have more than the m largest weights. Where it cannot, it is the best for
    those with the least: no arm's exposure for its merit can be raised without lowering that of an
    arm that has no more.

    Parameters
    ----------
    merit, means
        What exposure is proportional to, and the mean reward of each arm.
    weights
        One per place, not increasing: how much it is seen. A number k stands for k places that
        are seen alike, `[1] * k`. One place of weight 1 gives `fair_probabilities`.

    Examples
    --------
    >>> from fairx import Exponential, fair_exposure
    >>> fair_exposure(Exponential(4), [0.1, 0.5, 0.5, 0.9], weights=[1, 0.5]).round(3)
    array([0.046, 0.227, 0.227, 1.   ])
    >>> fair_exposure(Exponential(4), [0.1, 0.5, 0.5, 0.9], weights=2).round(3)
    array([0.092, 0.454, 0.454, 1.   ])
    """
    found = rules.array("means", means, (None,))
    arms = rules.count("the number of means", found.size)
    merit_given("merit", merit)
    page, out = new_page(place_weights(weights, arms), arms, whole=0), np.empty(arms)
    with np.errstate(all="ignore"):
        page.logs[:] = [merit.log(mean) for mean in found]
    fill = ready_to_fill() if arms > MANY else fill_exposures.interpreted
    fill(page, out)
    return out


@entry
def fill_exposures(page, out):  # type: ignore[no-untyped-def]
    """Write the fair exposures of the logarithms of merits on a page."""
    expose(page.logs, page, pool(page.logs, page), out)


@functools.cache
def ready_to_fill() -> Any:
    """Return `fill_exposures` in its fastest form."""
    page = new_page(np.ones(1), 1, whole=0)
    return fill_exposures.ready((), lambda run, _: run(page, np.empty(1)))[0]


@kernel
def share_places(merit: Merit, means: Vector, page: Page, out: Vector) -> None:
    """Write the fair exposures of `means` to `out`, which may be the same array."""
    logs = page.logs[: len(means)]
    for position in range(len(means)):
        logs[position] = merit.log(means[position])
    expose(logs, page, pool(logs, page), out)


@kernel
def spread(probabilities: Vector, page: Page, out: Vector) -> None:
    """Write the fair exposures of arms whose merits are in proportion to these probabilities.

    Where no place is too small they are the probabilities, times the sum of all weights.
    """
    logs = page.logs[: len(probabilities)]
    for position in range(len(logs)):
        p = probabilities[position]
        logs[position] = log(p) if p > TINY else -math.inf
    blocks = pool(logs, page)
    if blocks > 1:
        expose(logs, page, blocks, out)
    else:
        for position in range(len(out)):
            out[position] = page.amounts[0] * probabilities[position]


@kernel
def ratio(log_merit: float, log_larger: float) -> float:
    """Return a merit over a larger one; two merits of 0 are equal."""
    return 1.0 if log_merit == log_larger else exp(log_merit - log_larger)


@kernel
def pool(logs: Vector, page: Page) -> int:
    """Divide the candidates, by the logarithms of their merits, into blocks; return how many.

    Within a block exposure is in proportion to merit, and from block to block it rises for the same
    merit. Neighbours are pooled while it would fall (pool adjacent violators). A block keeps its merits
    relative to its first: exact over any range. All beyond the last place enter as one, at the end.
    """
    places, n = min(len(page.weights), len(logs)), 0
    pick_top(logs, page.top, places)
    for i in range(places):
        page.heads[n], page.merits[n] = logs[page.top[i]], 1.0
        page.amounts[n], page.starts[n] = page.weights[i], i
        n = pooled(page, n + 1)
    if len(logs) > places:
        page.heads[n], page.amounts[n], page.starts[n] = logs[page.top[places - 1]], 0.0, places
        page.merits[n] = merit_beyond(logs, page, places)
        n = pooled(page, n + 1)
    page.starts[n] = places
    return n


@kernel
def merit_beyond(logs: Vector, page: Page, places: int) -> float:
    """Return the merit of all beyond the last place, that of the last on a place as 1."""
    last, total = logs[page.top[places - 1]], 0.0
    shares = page.shares[: len(logs)]
    for position in range(len(logs)):
        shares[position] = ratio(logs[position], last)
    for i in range(places):
        shares[page.top[i]] = 0.0
    for position in range(len(logs)):
        total += shares[position]
    return total


@kernel
def pooled(page: Page, n: int) -> int:
    """Merge the last of `n` blocks into those before while its exposure per merit is not larger."""
    while n > 1:
        scale = ratio(page.heads[n - 1], page.heads[n - 2])
        merit, amount = page.merits[n - 1] * scale, page.amounts[n - 1]
        if amount > 0.0 and page.amounts[n - 2] * merit < amount * page.merits[n - 2]:
            break
        page.merits[n - 2] += merit
        page.amounts[n - 2] += amount
        n -= 1
    return n


@kernel
def expose(logs: Vector, page: Page, blocks: int, out: Vector) -> None:
    """Write the exposures of blocks that `pool` found."""
    if blocks == 1:
        expose_one_block(logs, page, out)
        return
    last, places = blocks - 1, page.starts[blocks]
    each = ratio(logs[page.top[places - 1]], page.heads[last]) * page.amounts[last]
    each /= page.merits[last]
    for position in range(len(out)):  # those on places are not, and follow
        out[position] = page.shares[position] * each
    for block in range(blocks):
        each = page.amounts[block] / page.merits[block]
        for i in range(page.starts[block], page.starts[block + 1]):
            position = page.top[i]
            out[position] = ratio(logs[position], page.heads[block]) * each


@kernel
def expose_one_block(logs: Vector, page: Page, out: Vector) -> None:
    """Write exposures in proportion to merit, with the bits of `fair_probabilities` for one place."""
    total = 0.0
    for position in range(len(out)):
        out[position] = ratio(logs[position], page.heads[0])
    for position in range(len(out)):
        total += out[position]
    each = page.amounts[0] / total
    for position in range(len(out)):
        out[position] *= each
