"""Policies that are told what was played: their whole state is folded, decision by decision.

A decision is told when it is mature, in the order in which decisions matured, with the probabilities on
record, also where nothing is learned from it: so the same log gives the same bits anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fairx.policies.telling import teller_of
from fairx.types import Vector

from .arms import Arm, arms_at, candidates_of
from .compact import KnownPools
from .database import Database, listed
from .settings import Settings
from .snapshots import ServedExperiment

AT_ONCE = 1000
NO_CONTEXT = np.empty(0)


def flat(state: Any) -> Vector:
    """Return the arrays of a state as one."""
    return np.concatenate([np.ravel(part) for part in state])


def filled(settings: Settings, values: Vector) -> Any:
    """Return the state that was made flat."""
    policy: Any = settings.policy
    one, two = flat(policy.start(1, 0)).size, flat(policy.start(2, 0)).size
    state = policy.start((len(values) - (2 * one - two)) // (two - one), 0)
    start = 0
    for part in state:
        part[...] = values[start : start + part.size].reshape(part.shape)
        start += part.size
    return state


def with_more_arms(settings: Settings, values: Vector, arms: int) -> Vector:
    """Return a state with room for more arms; the first one, if there was none."""
    policy: Any = settings.policy
    if not arms:
        return np.empty(0)
    wide = policy.start(arms, 0)
    if len(values):
        for new, old in zip(wide, filled(settings, values), strict=True):
            new[: len(old)] = old
    return flat(wide)


def tell_and_learn(
    database: Database, experiment: ServedExperiment, values: Vector, sequences: list[int],
    rewards: list[float | None],
) -> None:  # fmt: skip
    """Tell the policy of mature decisions, in their order, and let it learn from those with rewards."""
    policy: Any = experiment.settings.policy
    state, teller = filled(experiment.settings, values), teller_of(policy)
    known: dict[int, tuple[Arm, ...]] = {}
    pools = KnownPools(database)
    for start in range(0, len(sequences), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        made = _made(database, sequences[some])
        for sequence, reward in zip(sequences[some], rewards[some], strict=True):
            arm, position, snapshot, named, probabilities = made[sequence]
            if snapshot not in known:
                known[snapshot] = arms_at(database, experiment.id, snapshot)
            found = candidates_of(known[snapshot], pools.candidates(named))
            arms = np.array(found, np.int64)
            teller.tell(policy, state, arms, position, np.frombuffer(probabilities))
            if reward is not None:
                policy.learn(state, arm, NO_CONTEXT, reward)
    values[:] = flat(state)


def _made(database: Database, sequences: list[int]) -> dict[int, tuple[Any, ...]]:
    marks, numbers = listed(sequences)
    columns = "sequence, arm, slot, snapshot, candidates, probabilities"
    sql = f"SELECT {columns} FROM decisions WHERE sequence IN ({marks})"
    return {row[0]: row[1:] for row in database.rows(sql, numbers)}
