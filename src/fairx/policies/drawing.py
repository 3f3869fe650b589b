"""Slates one by one: a function of a policy's state, the candidates, the weights and random keys."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import direct, entry
from fairx.errors import FairxError
from fairx.exposure import mix
from fairx.numerics.streams import normals_of_round, word
from fairx.slates.drawing import draw
from fairx.slates.places import Page, new_page
from fairx.slates.target import spread
from fairx.types import Indices, Matrix, Vector

from .base import least_arms
from .exposing import exposer_of


class Drawn(NamedTuple):
    """A slate by place: whom it shows, by their positions among the candidates, and how likely."""

    positions: Indices
    propensities: Vector
    exposures: Vector  # of all candidates


class Keys(NamedTuple):
    """The random numbers of one slate: those of round `number`."""

    policy: Any  # two keys: of what the policy draws
    choice: np.uint64  # of the slate
    number: int


@entry
def decide_slate(  # type: ignore[no-untyped-def]
    exposer, policy, state, arms, contexts, policy_keys, choice_key, t, floor, normals, work, page
):
    """Draw a slate from the deployed exposures, floor included; return how many places it has."""
    normals_of_round(policy_keys, t, len(normals), normals)
    out = page.exposures[: len(arms)]
    exposer.expose_arms(policy, state, arms, contexts, normals, work, page, out)
    if floor > 0.0:
        total = 0.0
        for place in range(min(len(page.weights), len(arms))):
            total += page.weights[place]
        # Equal exposures can be had, and so can what lies between them and others.
        mix(out, 1.0 - len(out) * floor, len(out) * floor * total)
    return draw(page, len(arms), word(choice_key, t))


@entry
def draw_by_probability(page, probabilities, bits):  # type: ignore[no-untyped-def]
    """Draw a slate with the exposures that these probabilities give; return how many places it has."""
    spread(probabilities, page, page.exposures[: len(probabilities)])
    return draw(page, len(probabilities), bits)


class Drawing:
    """Draws slates by one state of a policy of ours. Used by one thread."""

    def __init__(self, policy: Any, state: Any, dimension: int, floor: float = 0.0) -> None:
        self._policy, self._state = policy, state
        self._dimension, self._floor = dimension, floor
        self._page: Page = new_page(np.ones(1), 1)
        self._compile()

    def draw(self, keys: Keys, arms: Indices, contexts: Matrix, weights: Vector) -> Drawn:
        """Return the slate of these random numbers, of at most as many places as there are arms.

        Arrays must be contiguous, of 64-bit floats (arms: integers): compiled code does not check.
        """
        page = self._room(weights[: len(arms)], len(arms))
        normals, work = self._policy.needs(len(arms), self._dimension)
        places = self._run(
            *self._lowered, self._state, arms, contexts, *keys, self._floor,
            np.empty(normals), np.empty(work), page,
        )  # fmt: skip
        return drawn_on(page, places)

    def _room(self, weights: Vector, arms: int) -> Page:
        """Return room to work in; clients ask for the same places again and again."""
        page = self._page
        if len(page.exposures) != arms or page.weights.tobytes() != weights.tobytes():
            page = self._page = new_page(weights.copy(), arms)
        return page

    def _compile(self) -> None:
        """Compile the step for this policy, on a state of its own."""
        normals, work = self._policy.needs(1, self._dimension)
        arguments = (
            np.zeros(1, np.int64), np.zeros((1, self._dimension)), np.zeros(2, np.uint64),
            np.uint64(0), 0, 0.0, np.empty(normals), np.empty(work), new_page(np.ones(1), 1),
        )  # fmt: skip
        blank = self._policy.start(least_arms(self._policy), self._dimension)
        records = (exposer_of(self._policy), self._policy, blank)
        run, low = decide_slate.ready(records, lambda run, low: run(*low, *arguments))
        self._lowered, self._run = low[:2], direct(run, (*low, *arguments))


def drawn_from(probabilities: Vector, weights: Vector, bits: np.uint64) -> Drawn:
    """Return a slate with the exposures that the probabilities of any policy give."""
    page = new_page(weights[: len(probabilities)], len(probabilities))
    return drawn_on(page, _ready_to_draw()(page, probabilities, bits))


def drawn_on(page: Page, places: int) -> Drawn:
    """Return the slate that was drawn on a page, unless no ranking has such exposures."""
    found = Drawn(
        page.shown[:places].copy(), page.propensities[:places].copy(), page.exposures.copy()
    )
    if not all(0.0 < chance <= 1.0 + 1e-9 for chance in found.propensities.tolist()):
        raise FairxError(f"the policy's exposures are not feasible: {found.exposures.tolist()}")
    return found


@functools.cache
def _ready_to_draw() -> Any:
    page, even = new_page(np.ones(1), 1), np.ones(1)
    return draw_by_probability.ready((), lambda run, _: run(page, even, np.uint64(0)))[0]
