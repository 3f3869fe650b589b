"""The probabilities of a decision among many arms, made for those who ask.

A decision has the weights of now, and notes of what changed since: as it was before each change. Notes
point to newer ones and not to older ones, so that they go when the last decision goes that needs them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Indices, Vector

SPARE = 1024  # notes, beside those of one reward, which may change all weights


class Taken(NamedTuple):
    """Weights as they were before they changed, the oldest first."""

    positions: Indices
    before: Vector


class Notes:
    """Some notes, and those that were taken when these had no room left."""

    def __init__(self, taken: Taken) -> None:
        self.taken, self.filled = taken, 0
        self.next: Notes | None = None

    def has_room(self, number: int) -> bool:
        """Tell whether as many can be taken."""
        return self.filled + number <= len(self.taken.before)

    def since(self, start: int) -> Iterator[Taken]:
        """Return all notes from `start` on, the newest first."""
        all_of: list[Notes] = [self]
        while all_of[-1].next is not None:
            all_of.append(all_of[-1].next)
        for notes in reversed(all_of):
            some = slice(start if notes is self else 0, notes.filled)
            yield Taken(notes.taken.positions[some][::-1], notes.taken.before[some][::-1])


def new_notes(arms: int) -> Notes:
    """Return room for notes."""
    room = arms + SPARE
    return Notes(Taken(np.empty(room, np.int64), np.empty(room)))


class Chances:
    """The probabilities of one decision: a vector once it is asked for, and to be pickled as one."""

    __slots__ = ("_each", "_from", "_lock", "_notes", "_only", "_scale", "_vector", "_weights")

    def __init__(
        self, lock: threading.RLock, weights: Vector, notes: Notes, start: int,
        made: tuple[float, float, int],
    ) -> None:  # fmt: skip
        self._lock, self._weights, self._notes, self._from = lock, weights, notes, start
        self._scale, self._each, self._only = made
        self._vector: Vector | None = None

    def vector(self) -> Vector:
        """Return the probabilities of all arms on offer."""
        with self._lock:
            if self._vector is None:
                self._vector = self._made()
                del self._notes, self._weights
            return self._vector

    def _made(self) -> Vector:
        if self._only >= 0:  # an arm that was never pulled
            alone = np.zeros(len(self._weights))
            alone[self._only] = 1.0
            return alone
        weights = self._weights.copy()
        for positions, before in self._notes.since(self._from):
            weights[positions] = before  # of several, the last one counts: the oldest
        return self._scale * weights + self._each

    def __reduce__(self) -> Any:
        return np.array, (self.vector(),)
