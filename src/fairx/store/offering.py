"""Who is on offer in a decision: the arms that a client named, or all that are active, with their contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.errors import FairxError, UnknownArm
from fairx.rules import InvalidValue
from fairx.types import Indices, Matrix

from .arms import ACTIVE, REMOVED, Arm, about
from .settings import LARGEST


class Candidates(NamedTuple):
    """What a decision is made from."""

    arms: Indices  # their numbers
    contexts: Matrix
    named: bytes | None  # the numbers as they are stored, where the client named arms
    left_out: tuple[str, ...]  # arms that the client named, but are paused


class Offer:
    """The arms of a snapshot that may be chosen from."""

    def __init__(self, arms: tuple[Arm, ...], dimension: int) -> None:
        self._arms, self._dimension = arms, dimension
        self._numbers, self.active = about(arms)[1:3]
        self._unnamed = Candidates(self.active, np.empty((len(self.active), 0)), None, ())

    def candidates(self, names: Sequence[str] | None, contexts: npt.ArrayLike | None) -> Candidates:
        """Return the arms of these names that are active, or all that are, with their contexts."""
        if names is None and contexts is None and not self._dimension:
            return self._unnamed
        if names is None:
            return Candidates(self.active, self._contexts(contexts, len(self.active)), None, ())
        arms, left_out, positions = self._named(names)
        if not len(arms):
            raise FairxError("no arm is on offer: all candidates are paused")
        rows = self._contexts(contexts, len(names))
        rows = np.ascontiguousarray(rows[positions]) if left_out else rows
        return Candidates(arms, rows, arms.astype("<i4").tobytes(), left_out)

    def again(self, named: bytes | None, contexts: bytes | None) -> Candidates:
        """Return what a decision was made from, as it was stored."""
        numbers = None if named is None else np.frombuffer(named, "<i4").astype(np.int64)
        arms = self.active if numbers is None else numbers
        rows = np.frombuffer(contexts or b"").reshape(len(arms), self._dimension).copy()
        return Candidates(arms, rows, named, ())

    def _named(self, names: Sequence[str]) -> tuple[Indices, tuple[str, ...], list[int]]:
        """Return the active arms of these names, the names that are paused, and whose rows to use."""
        arms, left_out, positions = [], [], []
        for position, name in enumerate(names):
            number = self._numbers.get(name, -1)
            status = self._arms[number].status if number >= 0 else REMOVED
            if status == REMOVED:
                raise UnknownArm(f"arm {name!r} does not exist, or was removed")
            if status == ACTIVE:
                arms.append(number)
                positions.append(position)
            else:
                left_out.append(name)
        if not names or len(set(names)) < len(names):
            raise InvalidValue("candidates", "be at least one arm, each once")
        return np.array(arms, np.int64), tuple(left_out), positions

    def _contexts(self, contexts: npt.ArrayLike | None, rows: int) -> Matrix:
        if not self._dimension:
            if contexts is not None:
                raise InvalidValue("contexts", "be left out: this experiment has dimension 0")
            return np.empty((rows, 0))
        if contexts is None:
            raise InvalidValue(
                "contexts", f"be given: this experiment has dimension {self._dimension}"
            )
        shape = (rows, self._dimension)
        found = np.asarray(contexts, np.float64, order="C") if _is_array(contexts, shape) else None
        if found is None or not np.abs(found).max() <= LARGEST:
            found = rules.array("contexts", contexts, shape, "one row per arm on offer")
            if np.abs(found).max() > LARGEST:
                raise InvalidValue("contexts", f"be from -{LARGEST:g} to {LARGEST:g}")
        return found


def _is_array(contexts: Any, shape: tuple[int, int]) -> bool:
    """Tell whether contexts are an array that needs no closer look to be one of this shape."""
    return isinstance(contexts, np.ndarray) and contexts.shape == shape
