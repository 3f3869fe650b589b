"""One slate: who is shown at which place, and how likely that was."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import entry, kernel
from fairx.numerics.streams import unit, word
from fairx.types import Indices, Matrix, Vector

from .mingling import mingle, part_near
from .places import Page, new_page, place_weights
from .rows import arrange, last_alike, part_of, pool_ties
from .swaps import rank

SHUFFLES = 3 << 40  # where the numbers begin that shuffle places
NEAR = 1e-9  # exposures that a policy has just computed


class Slate(NamedTuple):
    """What is shown: the arms by place, how likely each was there, and the exposures of all."""

    arms: Indices
    propensities: Vector
    exposures: Vector


def draw_slate(exposures: npt.ArrayLike, weights: Any, rng: np.random.Generator) -> Slate:
    """Draw a ranking in which each arm has its exposure in expectation, exactly.

    Parameters
    ----------
    exposures
        Of each arm: the expected weight of its place. With sum of all weights, and no m arms together
        more than the m largest weights; `fair_exposure` has such.
    weights
        One per place, as for `fair_exposure`; with fewer arms than places, the first places are used.
    rng
        Where the random numbers come from.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential, fair_exposure
    >>> from fairx.slates import draw_slate
    >>> exposures = fair_exposure(Exponential(2), [0.1, 0.5, 0.4, 0.9], weights=[1, 0.5])
    >>> slate = draw_slate(exposures, [1, 0.5], np.random.default_rng(1))
    >>> slate.arms, slate.propensities.round(3), slate.exposures.round(3)
    (array([2, 1]), array([0.113, 0.577]), array([0.15 , 0.334, 0.273, 0.743]))
    """
    page = _page_of(exposures, weights)
    bits = rng.integers(2**64, dtype=np.uint64)
    _ready()(page, page.exposures.size, bits, np.empty((0, 0)))
    return Slate(page.shown, page.propensities, page.exposures)


def slate_propensities(exposures: npt.ArrayLike, weights: Any) -> Matrix:
    """Return how likely each arm is at each place of a slate that `draw_slate` draws.

    Examples
    --------
    >>> from fairx.slates import slate_propensities
    >>> slate_propensities([0.8, 0.4, 0.3], [1, 0.5]).round(3)
    array([[0.8  , 0.   ],
           [0.067, 0.667],
           [0.133, 0.333]])
    """
    page = _page_of(exposures, weights)
    table = np.zeros((page.exposures.size, page.weights.size))
    _ready()(page, page.exposures.size, np.uint64(0), table)
    return table


def _page_of(exposures: npt.ArrayLike, weights: Any) -> Page:
    found = rules.array("exposures", exposures, (None,))
    arms = rules.count("the number of exposures", found.size)
    page = new_page(place_weights(weights)[:arms], arms)
    check_exposures(found, page.weights)
    page.exposures[:] = found
    return page


def check_exposures(exposures: Vector, weights: Vector) -> None:
    """Refuse exposures that no ranking has."""
    if exposures.min() < 0:
        raise rules.InvalidValue("exposures", f"be at least 0, not {exposures.min()}")
    most, total = np.cumsum(weights), np.cumsum(np.sort(exposures)[::-1])
    if abs(total[-1] - most[-1]) > NEAR * most[-1]:
        rule = f"have the sum of the weights, {most[-1]:.12g}, not {total[-1]:.12g}"
        raise rules.InvalidValue("exposures", rule)
    over = np.flatnonzero(total[: most.size] > most + NEAR * most[-1])
    if over.size:
        m = int(over[0])
        rule = f"be at most {most[m]:.12g} for {m + 1} arms together, not {total[m]:.12g}"
        raise rules.InvalidValue("exposures", rule)


@entry
def draw_once(page, candidates, bits, table):  # type: ignore[no-untyped-def]
    """Call the draw from Python, and write its table if there is room."""
    draw(page, candidates, bits)
    if len(table):
        fill_propensities(page, candidates, table)


@functools.cache
def _ready() -> Any:
    page, table = new_page(np.ones(1), 1), np.empty((1, 1))
    return draw_once.ready((), lambda run, _: run(page, 1, np.uint64(0), table))[0]


@kernel
def draw(page: Page, candidates: int, bits: np.uint64) -> int:
    """Draw a slate of the first `candidates` exposures of a page; return how many places it has.

    Writes `page.shown`, the positions of the candidates by place, and `page.propensities`, which follow
    from the exposures and weights alone. All else follows from `bits`.
    """
    exposures = page.exposures[:candidates]
    places = min(len(page.weights), candidates)
    rows = arrange(page, exposures, places, bits)
    groups = part_near(page, rows, places)
    rank(page, rows, places, bits)
    mingle(page, groups, bits)
    pool_ties(page, rows)
    pool_equal_places(page, rows, places)
    for row in range(rows):
        place, shown = page.places[row], page.order[row]
        if place < places:
            page.shown[place] = shown
            page.propensities[place] = page.table[row, place] * part_of(page, exposures, shown, row)
    shuffle_equal_places(page, places, bits)
    return places


@kernel
def pool_equal_places(page: Page, rows: int, places: int) -> None:
    """Make each row as likely at all places of one weight: they are shuffled."""
    place = 0
    while place < places:
        stop = last_alike(page.weights, place, places)
        for row in range(rows if stop > place + 1 else 0):
            total = 0.0
            for i in range(place, stop):
                total += page.table[row, i]
            for i in range(place, stop):
                page.table[row, i] = total / (stop - place)
        place = stop


@kernel
def shuffle_equal_places(page: Page, places: int, bits: np.uint64) -> None:
    """Shuffle what is shown at places of one weight."""
    shown, chances = page.shown, page.propensities
    for place in range(places - 1):
        stop = last_alike(page.weights, place, places)
        if stop > place + 1:
            other = place + int(unit(word(bits, SHUFFLES + place)) * (stop - place))
            shown[place], shown[other] = shown[other], shown[place]
            chances[place], chances[other] = chances[other], chances[place]


@kernel
def fill_propensities(page: Page, candidates: int, out: Matrix) -> None:
    """Write how likely each candidate is at each place of the last draw."""
    exposures, alone = page.exposures[:candidates], int(page.others[0])
    places = min(len(page.weights), candidates)
    if alone < candidates:
        for i in range(candidates):
            part = part_of(page, exposures, i, alone)
            for place in range(places):
                out[i, place] = part * page.table[alone, place]
    for row in range(alone):
        for place in range(places):
            out[page.order[row], place] = page.table[row, place]
