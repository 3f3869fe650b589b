"""Pages of several places as plain arrays, checked once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.slates import place_weights
from fairx.types import Indices, Matrix, Vector

from . import checking
from .logged import Logged

PIECE = 1 << 13  # decisions worked on at a time


@record
class LoggedSlates(NamedTuple):
    """Slates in the order of time: a row for each decision, a column for each place.

    Parameters
    ----------
    arms
        The arm shown at each place: its number, the index in `names`; -1 where nothing is known.
    rewards, propensities
        What that arm brought there, and the probability of that arm at that place.
    weights
        How much each place is seen: one per place, or a row for each decision. Without, all alike.
    candidates, contexts, units, names
        As for `Logged`: a row for each decision.

    Examples
    --------
    >>> log = LoggedSlates([[0, 1], [2, 0]], [[1, 0], [0, 1]], propensities=np.full((2, 2), 0.5))
    >>> log.names, log.entries().arms
    ((0, 1, 2), array([0, 1, 2, 0]))
    >>> LoggedSlates(arms=[[1, 1]], rewards=[[1, 0]], propensities=[[0.5, 0.5]])
    Traceback (most recent call last):
    ValueError: arms must be distinct on a page, not [1, 1] at 0
    """

    arms: Indices
    rewards: Matrix
    propensities: Matrix
    weights: Vector | None = None
    candidates: Indices | None = None
    contexts: Vector | None = None
    units: Indices | None = None
    names: tuple[Any, ...] = ()

    def checked(self) -> LoggedSlates:
        """Refuse arrays that do not fit each other, and numbers that cannot be."""
        arms = checking.numbers("arms", self.arms, 2)
        shape = rules.count("the number of decisions", len(arms)), arms.shape[1]
        new = changed(
            self,
            arms=arms,
            rewards=_by_place("rewards", self.rewards, arms),
            propensities=_by_place("propensities", self.propensities, arms),
            weights=_weights(self.weights, shape),
        )
        _check_pages(arms)
        if self.candidates is not None:
            candidates = checking.numbers("candidates", self.candidates, 2)
            checking.fits("candidates", candidates, len(arms))
            new = changed(new, candidates=candidates)
        units = np.arange(len(arms)) if self.units is None else self.units
        new = changed(new, units=checking.units(units, len(arms)))
        return changed(new, names=new.entries().names)

    @property
    def decisions(self) -> int:
        """How many decisions there are."""
        return len(self.arms)

    def entries(self) -> Logged:
        """Return what is known, as if each place of each decision were a decision: checked as such."""
        decision, place = self.shown()
        rules.count("the number of arms shown", decision.size)

        def rows(value: Any) -> Any:
            return None if value is None else np.asarray(value)[decision]

        made = Logged(
            arms=self.arms[decision, place],
            rewards=self.rewards[decision, place],
            propensities=self.propensities[decision, place],
            candidates=rows(self.candidates),
            contexts=rows(self.contexts),
            names=self.names,
        )
        return changed(made, units=rows(self.units))  # as they are, also in a part of the log

    def shown(self) -> tuple[Indices, Indices]:
        """Return the decision and the place (from 0) of each arm that is known."""
        decision, place = np.nonzero(self.arms >= 0)
        return decision, place

    def places_used(self) -> Indices:
        """Return how many places each page has: up to the last that is seen, or has an arm."""
        assert self.weights is not None
        there = (self.weights > 0) | (self.arms >= 0)
        found: Indices = there.shape[1] - np.argmax(there[:, ::-1], axis=1)
        return found

    def all_candidates(self) -> Indices:
        """Return the arms on offer in each decision, -1 for none."""
        if self.candidates is not None:
            return self.candidates
        every = np.arange(len(self.names), dtype=np.int64)
        return np.broadcast_to(every, (len(self.arms), len(self.names)))

    def pieces(self) -> Iterator[LoggedSlates]:
        """Go through some decisions at a time."""
        columns = {name: value for name, value in self._asdict().items() if name != "names"}
        there = {name: value for name, value in columns.items() if value is not None}
        for start in range(0, len(self.arms), PIECE):
            some = slice(start, start + PIECE)
            yield changed(self, **{name: value[some] for name, value in there.items()})


def _by_place(name: str, value: Any, arms: Indices) -> Matrix:
    """Return numbers, one for each place; those of places without an arm do not matter."""
    found = np.array(value, np.float64)
    if found.shape == arms.shape:
        found[arms < 0] = 1.0
    return rules.array(name, found, arms.shape, "one for each decision and place")


def _weights(value: Any, shape: tuple[int, int]) -> Matrix:
    """Return the weights of all pages."""
    given = np.ones(shape[1]) if value is None else np.asarray(value)
    if given.ndim == 1:
        given = np.broadcast_to(place_weights(given), (shape[0], given.size))
    found = rules.array("weights", given, shape, "one per place, or a row for each decision")
    wrong = (np.diff(found, axis=1) > 0).any(axis=1) | (found.min(axis=1) < 0) | (found[:, 0] <= 0)
    if wrong.any():
        place_weights(found[int(np.flatnonzero(wrong)[0])])  # says what is wrong
    return found


def _check_pages(arms: Indices) -> None:
    """Refuse a page that shows an arm twice."""
    ordered = np.sort(arms, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if twice.any():
        where = int(np.flatnonzero(twice)[0])
        raise ValueError(f"arms must be distinct on a page, not {arms[where].tolist()} at {where}")
