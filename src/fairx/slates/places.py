"""The places of a page: one weight each, and room to work out who gets them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel
from fairx.types import Indices, Matrix, Vector

LANES = 4  # places of a table that are taken together
WHOLE = 128  # up to so many candidates each has a row of its own; above, some share one
PLACES = 1_000_000  # of a page
CELLS = 2**27  # of a table by row and place: a gigabyte


class Page(NamedTuple):
    """The weights of the places, and buffers for as many candidates as there can be."""

    weights: Vector  # by place, not increasing
    top: Indices  # the target: the candidates with the most merit, as many as places
    heads: Vector  # by block: the logarithm of the largest merit in it
    merits: Vector  # by block: the sum of merits, the largest as 1
    amounts: Vector  # by block: the sum of weights
    starts: Indices  # by block: its first candidate in `top`
    logs: Vector  # by candidate: logarithms of merits
    shares: Vector  # by candidate beyond the places: its merit, that of the last on a place as 1
    exposures: Vector  # by candidate: what a policy proposes
    found: Indices  # the draw: candidates that have a row of their own
    order: Indices  # by row: its candidate, those with the most exposure first
    line: Indices  # candidates that share rows
    others: Vector  # how many do not, and what each row that is shared wants
    wants: Vector  # by row: its exposure
    first_wants: Vector  # by row that starts on a place: its exposure if there were no others
    near_from: Indices  # by group of rows that want nearly the same: its first row
    near_to: Indices  # and the one after its last
    keeps: Vector  # and the chance that it is not shuffled
    has: Vector  # by row: its exposure by the swaps so far
    rich: Indices  # rows that have more than they want
    places: Indices  # by row: its place; not on the page, from the number of places on
    table: Matrix  # by row and place: how likely it is there
    shown: Indices  # by place: the candidate that is shown there, by its position
    propensities: Vector  # by place: how likely that candidate was there
    steps: Vector  # how many optimistic steps were taken, and how many were proved the best


def place_weights(weights: Any, arms: int | None = None) -> Vector:
    """Return one weight per place: a whole number stands for as many ones.

    Examples
    --------
    >>> place_weights(3)
    array([1., 1., 1.])
    >>> place_weights([0.5, 1])
    Traceback (most recent call last):
    InvalidValue: weights must be not increasing, not 1.0 after 0.5: the first place is the one seen most
    >>> place_weights(3, arms=2)
    Traceback (most recent call last):
    InvalidValue: weights must be at most one for each arm, not 3 for 2 arms
    """
    if np.ndim(weights) == 0 and not isinstance(weights, (str, bytes)):
        number = rules.count("weights", weights)
        _check_number(number, arms)  # before there is room for them
        found = np.ones(number)
    else:
        found = rules.array("weights", weights, (None,), "one per place").copy()
    _check_weights(found)
    _check_number(found.size, arms)
    return found


def _check_number(places: int, arms: int | None) -> None:
    if arms is not None and places > arms:
        rule = f"be at most one for each arm, not {places} for {arms} arms"
        raise rules.InvalidValue("weights", rule)
    if places > PLACES:
        raise rules.InvalidValue("weights", f"be at most {PLACES}, not {places}")


def _check_weights(found: Vector) -> None:
    if not found.size:
        raise rules.InvalidValue("weights", "be at least one, not none: one per place")
    if found.min() < 0:
        raise rules.InvalidValue("weights", f"be at least 0, not {found.min()}")
    rises = np.flatnonzero(np.diff(found) > 0)
    if rises.size:
        rule = f"be not increasing, not {found[rises[0] + 1]} after {found[rises[0]]}"
        raise rules.InvalidValue("weights", f"{rule}: the first place is the one seen most")
    total = sum(found.tolist())
    if not np.isfinite(total):
        raise rules.InvalidValue("weights", f"have a finite sum, not {total}")
    if not found[0] > 0:
        raise rules.InvalidValue("weights", "be positive for the first place, not all 0")


def new_page(weights: Vector, arms: int, whole: int = WHOLE) -> Page:
    """Return room for slates of these places among `arms` candidates at most.

    `whole` is the number of candidates up to which each has a row of its own (see `rows`); 0 where
    nothing is drawn, but exposures alone are asked for.
    """
    k = weights.size
    rows = min(arms, max(whole, few_rows(k))) if whole else 0
    if rows * k > CELLS:
        rule = f"be fewer to draw slates from {arms} arms, not {k}: {rows * k} chances are too many"
        raise rules.InvalidValue("weights", rule)
    by_block, by_arm, by_row = np.zeros((3, k + 1)), np.zeros((3, arms)), np.zeros((2, rows))
    return Page(
        weights=weights,
        top=np.zeros(k, np.int64),
        heads=by_block[0],
        merits=by_block[1],
        amounts=by_block[2],
        starts=np.zeros(k + 2, np.int64),
        logs=by_arm[0],
        shares=by_arm[1],
        exposures=by_arm[2],
        found=np.zeros(rows, np.int64),
        order=np.zeros(rows, np.int64),
        line=np.zeros(arms, np.int64),
        others=np.zeros(2),
        wants=by_row[0],
        first_wants=np.zeros(k),
        near_from=np.zeros(2 * rows, np.int64),  # groups of two or more rows, at three levels
        near_to=np.zeros(2 * rows, np.int64),
        keeps=np.zeros(2 * rows),
        has=by_row[1],
        rich=np.zeros(k, np.int64),
        places=np.zeros(rows, np.int64),
        table=np.zeros((rows, -(-k // LANES) * LANES)),  # whole lanes, the last filled up
        shown=np.zeros(k, np.int64),
        propensities=np.zeros(k),
        steps=np.zeros(2),
    )


@kernel
def few_rows(places: int) -> int:
    """Return how many rows a draw has where candidates share some of them."""
    return 4 * places + 2
