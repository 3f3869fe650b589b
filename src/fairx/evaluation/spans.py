"""Stretches of a log: learn a policy from the first, evaluate it on the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.types import Vector

from .logged import Logged, Source, part


class Span(NamedTuple):
    """The decisions of a log from one number on and up to another."""

    source: Source
    first: int
    last: int

    @property
    def names(self) -> Sequence[Any]:
        """The arms of the whole log, so that both parts number them alike."""
        return self.source.names

    @property
    def decisions(self) -> int:
        """How many decisions are in between."""
        return self.last - self.first

    @property
    def problems(self) -> dict[str, int]:
        """Rows of the whole log that are no decisions, by kind."""
        found: dict[str, int] = getattr(self.source, "problems", {})
        return found

    def pieces(self) -> Iterator[Logged]:
        """Go through the pieces of the whole log, cut at both ends."""
        start = 0
        for piece in self.source.pieces():
            low, high = max(self.first - start, 0), min(self.last - start, len(piece.arms))
            if low < high:
                yield part(piece, slice(low, high))
            start += len(piece.arms)


def split(source: Source, share: float) -> tuple[Span, Span]:
    """Return the first `share` of the decisions, and the rest.

    Examples
    --------
    >>> log = Logged(arms=[0, 1, 1, 0], rewards=[1, 0, 1, 0], propensities=[0.5] * 4)
    >>> [span.decisions for span in split(log, 0.25)]
    [1, 3]
    """
    middle = round(rules.number("share", share, low=0, high=1) * source.decisions)
    if not 0 < middle < source.decisions:
        rule = f"leave some of {source.decisions} decisions on either side"
        raise ValueError(f"share must {rule}, not be {share!r}")
    return Span(source, 0, middle), Span(source, middle, source.decisions)


def mean_rewards(source: Source) -> Vector:
    """Return the mean reward of each arm; of an arm never shown, that of all decisions.

    Examples
    --------
    >>> mean_rewards(Logged(arms=[0, 1, 1], rewards=[1, 0, 1], propensities=[0.5] * 3))
    array([1. , 0.5])
    """
    sums, shows = np.zeros((2, len(source.names)))
    for piece in source.pieces():
        sums += np.bincount(piece.arms, piece.rewards, len(sums))
        shows += np.bincount(piece.arms, minlength=len(sums))
    overall = sums.sum() / shows.sum()
    return np.asarray(np.where(shows > 0, sums / np.maximum(shows, 1), overall))
