"""A log of decisions as plain arrays, checked once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.types import Indices, Matrix, Vector

from . import checking

PIECE = 1 << 16  # decisions worked on at a time: wide columns are never in memory all at once


class Source(Protocol):
    """Decisions that can be gone through as often as needed, some at a time, in their order."""

    @property
    def names(self) -> Sequence[Any]:
        """The arms there are."""
        ...

    @property
    def decisions(self) -> int:
        """How many decisions there are."""
        ...

    def pieces(self) -> Iterator[Logged]:
        """Go through the decisions."""
        ...


@record
class Logged(NamedTuple):
    """Decisions in the order of time.

    Parameters
    ----------
    arms
        The arm shown: its number, the index in `names`.
    rewards
        What it brought.
    propensities
        The probability with which it was drawn, given all that was known then.
    candidates
        The arms on offer in each decision, one row each, -1 for none; without, all arms always.
    contexts
        One row per decision, or one per decision and candidate.
    units
        Which decisions belong together (a user, a day): intervals allow for their dependence.
    probabilities
        The logging policy's, of each candidate: unsupported arms are then known exactly.
    names
        The arms, also those never shown; without, the numbers up to the largest there is.

    Examples
    --------
    >>> log = Logged(arms=[0, 1, 1], rewards=[1, 0, 1], propensities=[0.5, 0.5, 0.25])
    >>> log.names, log.all_candidates().tolist()[0]
    ((0, 1), [0, 1])
    >>> Logged(arms=[0, 1], rewards=[1, 0], propensities=[0.5, 0])
    Traceback (most recent call last):
    ValueError: propensities must be above 0 and at most 1, not 0 at 1: ...
    """

    arms: Indices
    rewards: Vector
    propensities: Vector
    candidates: Indices | None = None
    contexts: Vector | None = None
    units: Indices | None = None
    probabilities: Matrix | None = None
    names: tuple[Any, ...] = ()

    def checked(self) -> Logged:
        """Refuse arrays that do not fit each other, and numbers that cannot be."""
        arms = checking.numbers("arms", self.arms, 1)
        rows = rules.count("the number of decisions", len(arms))
        candidates = self.candidates
        if candidates is not None:
            candidates = checking.numbers("candidates", candidates, 2)
            checking.fits("candidates", candidates, rows)
        largest = max(arms.max(), -1 if candidates is None else candidates.max())
        new = changed(
            self,
            arms=arms,
            rewards=rules.array("rewards", self.rewards, (rows,), "one for each decision"),
            propensities=rules.array("propensities", self.propensities, (rows,)),
            candidates=candidates,
            units=checking.units(self.units, rows),
            names=tuple(self.names) or tuple(range(int(largest) + 1)),
        )
        wide = new.all_candidates().shape[1]
        new = changed(
            new,
            contexts=checking.contexts(self.contexts, rows, wide),
            probabilities=checking.optional("probabilities", self.probabilities, (rows, wide)),
        )
        checking.check(new, int(largest))
        return new

    @property
    def decisions(self) -> int:
        """How many decisions there are."""
        return len(self.arms)

    def pieces(self) -> Iterator[Logged]:
        """Go through slices of the arrays."""
        for start in range(0, len(self.arms), PIECE):
            yield part(self, slice(start, start + PIECE))

    def all_candidates(self) -> Indices:
        """Return the arms on offer in each decision, -1 for none."""
        if self.candidates is not None:
            return self.candidates
        every = np.arange(len(self.names), dtype=np.int64)
        return np.broadcast_to(every, (len(self.arms), len(self.names)))

    def slots(self) -> Indices:
        """Return `all_candidates` under its old name."""
        return self.all_candidates()

    def places(self) -> Indices:
        """Return `positions` under its old name."""
        return self.positions()

    def positions(self) -> Indices:
        """Return the position of the arm shown among its candidates."""
        if self.candidates is None:
            return self.arms
        return np.asarray(np.argmax(self.candidates == self.arms[:, None], axis=1))


def narrow(piece: Logged) -> Iterator[Logged]:
    """Go through slices of a piece that are the shorter the more candidates there are."""
    rows = max(1, 64 * PIECE // max(1, piece.all_candidates().shape[1]))
    for start in range(0, len(piece.arms), rows):
        yield part(piece, slice(start, start + rows))


def part(log: Logged, rows: Any) -> Logged:
    """Return some decisions of a log."""
    fields = {name: value[rows] for name, value in log._asdict().items() if _is_column(name, value)}
    return changed(log, **fields)


def _is_column(name: str, value: Any) -> bool:
    return name != "names" and value is not None
