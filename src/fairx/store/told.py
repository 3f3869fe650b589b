"""Policies that are told what was played, or forget: their whole state is folded, decision by decision.

A decision is told and learned from when it is mature, in the order in which decisions matured, with the probabilities on
record, also where nothing is learned from it: so the same log gives the same bits anywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairx.policies.telling import is_told, teller_of
from fairx.types import Matrix, Vector

from .arms import Arm, arms_at, candidates_of
from .compact import KnownPools
from .database import Database, rows_among
from .settings import Settings
from .snapshots import ServedExperiment

AT_ONCE = 1000


def arrays_of(state: Any) -> list[Any]:
    """Return the arrays of a state, and of the states within it."""
    return [
        each for part in state for each in (arrays_of(part) if isinstance(part, tuple) else [part])
    ]


def flat(state: Any) -> Vector:
    """Return the arrays of a state as one."""
    return np.concatenate([np.ravel(part) for part in arrays_of(state)])


def filled(settings: Settings, values: Vector) -> Any:
    """Return the state that was made flat."""
    policy: Any = settings.policy
    one, two = (flat(policy.start(arms, settings.dimension)).size for arms in (1, 2))
    arms = 1 + (len(values) - one) // (two - one) if two > one else 1
    state = policy.start(arms, settings.dimension)
    start = 0
    for part in arrays_of(state):
        part[...] = values[start : start + part.size].reshape(part.shape)
        start += part.size
    return state


def with_more_arms(settings: Settings, values: Vector, arms: int) -> Vector:
    """Return a state with room for more arms; the first one, if there was none."""
    policy: Any = settings.policy
    if not arms:
        return np.empty(0)
    wide = policy.start(arms, settings.dimension)
    if len(values):
        before = filled(settings, values)
        for new, old in zip(arrays_of(wide), arrays_of(before), strict=True):
            new[: len(old)] = old
    return flat(wide)


def tell_and_learn(
    database: Database, experiment: ServedExperiment, values: Vector, mature: Sequence[Any],
    contexts: Matrix, rewards: list[float | None],
) -> None:  # fmt: skip
    """Tell the policy of mature decisions, in their order, and let it learn from those with rewards."""
    policy: Any = experiment.settings.policy
    state, told = filled(experiment.settings, values), _Telling(database, experiment)
    for start in range(0, len(mature), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        told.look_up([each.sequence for each in mature[some]])
        for each, context, reward in zip(mature[some], contexts[some], rewards[some], strict=True):
            told.tell(state, each.sequence)
            if reward is not None:
                policy.learn(state, each.arm, context, reward)
    values[:] = flat(state)


@functools.lru_cache(maxsize=1024)
def ready_to_take_in(name: str, policy: Any, dimension: int) -> None:
    """Compile how this policy learns. Records equal as tuples may differ: hence the name."""
    policy.learn(policy.start(1, dimension), 0, np.zeros(dimension), 0.0)


class _Telling:
    """Tells a policy of decisions as they are on record, if it asks."""

    def __init__(self, database: Database, experiment: ServedExperiment) -> None:
        self.database, self.experiment = database, experiment
        self.policy: Any = experiment.settings.policy
        self.teller, self.asks = teller_of(self.policy), is_told(self.policy)
        self.known: dict[int, tuple[Arm, ...]] = {}
        self.pools = KnownPools(database)
        self.made: dict[int, Any] = {}

    def look_up(self, sequences: list[int]) -> None:
        """Read decisions from the store."""
        if self.asks:
            columns = "sequence, slot, snapshot, candidates, probabilities"
            sql = f"SELECT {columns} FROM decisions WHERE sequence IN ({{}})"
            self.made = {row[0]: row[1:] for row in rows_among(self.database, sql, sequences)}

    def tell(self, state: Any, sequence: int) -> None:
        """Tell the policy of a decision that was looked up."""
        if self.asks:
            position, snapshot, named, probabilities = self.made[sequence]
            if snapshot not in self.known:
                self.known[snapshot] = arms_at(self.database, self.experiment.id, snapshot)
            found = candidates_of(self.known[snapshot], self.pools.candidates(named))
            arms = np.array(found, np.int64)
            self.teller.tell(self.policy, state, arms, position, np.frombuffer(probabilities))
