"""What one run of pages with several places adds up, beside a tally."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.compiled import kernel
from fairx.merit import Merit
from fairx.numerics.streams import BLOCK
from fairx.policies.clicks import Clicks, no_clicks
from fairx.slates.drawing import draw, fill_propensities
from fairx.slates.places import Page, new_page
from fairx.slates.ranking import pick_top
from fairx.slates.target import share_places
from fairx.types import Indices, Matrix, Vector

from .places import Places
from .tally import Tally, pass_mark


class SlateTally(NamedTuple):
    """Two pages, the one that is shown and the fair one, and what is known of their places."""

    shown: Page
    fair: Page
    placements: Matrix  # by arm and place: sums of propensities
    table: Matrix  # by position and place: propensities of one draw
    examination: Vector  # by place: the chance that it is looked at
    best: Matrix  # by number of places, less 1: the chances of those, the largest first
    looks: Matrix  # by position, of the page shown and of the fair one: how often it is looked at
    alike: bool  # whether places are looked at as much as they weigh: looks are exposures
    clicks: Clicks
    noise: Vector


def new_slate_tally(places: Places, arms: int, dimension: int) -> SlateTally:
    """Return zeros."""
    k, chances, shape = places.weights.size, places.examination, (arms, places.weights.size)
    best = np.zeros((k, k))
    for used in range(k):
        best[used, : used + 1] = np.sort(chances[: used + 1])[::-1]
    return SlateTally(
        shown=new_page(places.weights, arms),
        fair=new_page(places.weights, arms),
        placements=np.zeros(shape),
        table=np.zeros(shape),
        examination=chances,
        best=best,
        looks=np.zeros((2, arms)),
        alike=bool(np.array_equal(chances, places.weights)),
        clicks=no_clicks(arms, dimension),
        noise=np.empty(BLOCK * k),
    )


@kernel
def judge_slate(
    slates: SlateTally, judge: Merit, means: Vector, places: int, bits: np.uint64
) -> float:
    """Write the fair exposures, and looks; return what the best ranking earns more."""
    n, page = len(means), slates.fair
    fair = page.exposures[:n]
    share_places(judge, means, page, fair)
    if not slates.alike:
        draw(page, n, bits)
        fill_propensities(page, n, slates.table)
    count_looks(slates, fair, places, slates.looks[1])
    pick_top(means, page.top, places)
    ahead = 0.0
    for place in range(places):
        ahead += slates.best[places - 1, place] * means[page.top[place]]
    for i in range(n):
        ahead -= slates.looks[1, i] * means[i]
    return ahead


@kernel
def count_looks(slates: SlateTally, exposures: Vector, places: int, out: Vector) -> None:
    """Write how often each candidate is looked at: by the last table, unless exposures tell."""
    for i in range(len(exposures)):
        out[i] = exposures[i]
    if not slates.alike:
        for i in range(len(exposures)):
            total = 0.0
            for place in range(places):
                total += slates.table[i, place] * slates.examination[place]
            out[i] = total


@kernel
def add_slate(
    tally: Tally, slates: SlateTally, arms: Indices, means: Vector, places: int, ahead: float,
    earned: float, rounds: int,
) -> None:  # fmt: skip
    """Add the regret and exposure of one page; `rounds` include it."""
    n, total = len(means), 0.0
    exposures, fair = slates.shown.exposures[:n], slates.fair.exposures[:n]
    fill_propensities(slates.shown, n, slates.table)
    count_looks(slates, exposures, places, slates.looks[0])
    for place in range(places):
        total += slates.shown.weights[place]
    for i in range(n):
        tally.fairness[i] += abs(fair[i] - exposures[i]) / total
        tally.reward[i] += (slates.looks[1, i] - slates.looks[0, i]) * means[i]
    for i in range(n):
        tally.exposure[arms[i]] += exposures[i]
        for place in range(places):
            slates.placements[arms[i], place] += slates.table[i, place]
    tally.sums[0] += ahead
    tally.sums[1] += earned
    pass_mark(tally, rounds)
