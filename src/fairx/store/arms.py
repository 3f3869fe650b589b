"""The arms of an experiment as they come and go: read once for each stretch without a change."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fairx.types import Indices

from .database import Database

ACTIVE, PAUSED, REMOVED = "active", "paused", "removed"
STARTS = "SELECT DISTINCT version FROM arms WHERE experiment = ? ORDER BY version"
START = "SELECT max(version) FROM arms WHERE experiment = ? AND version <= ?"
CHANGES = """
SELECT place, name, status FROM arms WHERE experiment = ? AND version > ? AND version <= ?
ORDER BY version
"""
MOST = 64  # experiments whose arms a connection remembers


class Arm(NamedTuple):
    """An arm; its number, the index among all arms, never changes."""

    name: str
    status: str


class About(NamedTuple):
    """What follows from arms and takes a while where they are many."""

    arms: tuple[Arm, ...]
    numbers: dict[str, int]
    active: Indices
    written: bytes


_about: dict[int, About] = {}


def about(arms: tuple[Arm, ...]) -> About:
    """Return what follows from arms: found once for as long as they are the same object."""
    found = _about.get(id(arms))
    if found is None or found.arms is not arms:
        numbers = {arm.name: number for number, arm in enumerate(arms)}
        active = np.array(candidates_of(arms, None), np.int64)
        found = About(arms, numbers, active, json.dumps(arms).encode())
        if len(_about) >= MOST:
            _about.clear()
        _about[id(arms)] = found
    return found


def arms_at(database: Database, experiment: int, version: int) -> tuple[Arm, ...]:
    """Return the arms as of a version: the last change of each counts.

    What a connection read last it remembers, until a transaction is undone: most versions change none.
    """
    ((start,),) = database.rows(START, (experiment, version))
    before, known = database.known_arms.get(experiment, (0, ()))
    if start is None or before != start:
        if start is None or before > start:
            before, known = 0, ()
        last = dict(enumerate(known))
        for number, name, status in database.rows(CHANGES, (experiment, before, version)):
            last[number] = Arm(name, status)
        known = tuple(last[number] for number in range(len(last)))
        if len(database.known_arms) >= MOST:
            database.known_arms.clear()
        database.known_arms[experiment] = (start or 0, known)
    return known


def candidates_of(arms: Sequence[Arm], named: bytes | None) -> list[int]:
    """Return the numbers of the candidates of a decision: all active arms where none were named.

    Examples
    --------
    >>> arms = [Arm("a", ACTIVE), Arm("b", PAUSED), Arm("c", ACTIVE)]
    >>> candidates_of(arms, None), candidates_of(arms, bytes([2, 0, 0, 0]))
    ([0, 2], [2])
    """
    if named is None:
        return [number for number, arm in enumerate(arms) if arm.status == ACTIVE]
    numbers: list[int] = np.frombuffer(named, "<i4").tolist()
    return numbers


class ArmsThroughTime:
    """The arms of an experiment at any of its versions, for one who goes through them in order."""

    def __init__(self, database: Database, experiment: int) -> None:
        self._database, self._experiment = database, experiment
        self._starts = [version for (version,) in database.rows(STARTS, (experiment,))]
        self._known: tuple[int, tuple[Arm, ...]] = (-1, ())

    def start(self, version: int) -> int:
        """Return the version at which the arms became what they are at another one."""
        found = bisect_right(self._starts, version)
        return self._starts[found - 1] if found else 0

    def at(self, version: int) -> tuple[Arm, ...]:
        """Return the arms as of a version."""
        start = self.start(version)
        if start != self._known[0]:
            self._known = (start, arms_at(self._database, self._experiment, start))
        return self._known[1]
