"""Counts and sums of each arm: what policies without contexts learn from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, meet, turns
from fairx.types import Indices, Vector


class Counts(NamedTuple):
    """How often each arm was pulled, and the sum of its rewards."""

    pulls: Vector
    reward_sums: Vector


def no_counts(arms: int) -> Counts:
    """Return zeros."""
    return Counts(np.zeros(rules.count("arms", arms)), np.zeros(arms))


@kernel
def count_reward(state: Any, arm: int, reward: float) -> float:
    """Count one reward of `arm` and return the mean of all (lines 3 and 4 of Algorithm 1)."""
    for _ in turns(1):
        state.pulls[arm] += 1.0
        state.reward_sums[arm] += reward
    meet()
    return state.reward_sums[arm] / state.pulls[arm]  # type: ignore[no-any-return]


@kernel
def means_so_far(state: Any, arms: Indices, out: Vector) -> None:
    """Write the mean rewards of the arms on offer, 0 before the first."""
    for position in range(len(arms)):
        pulls = state.pulls[arms[position]]
        out[position] = state.reward_sums[arms[position]] / pulls if pulls > 0.0 else 0.0


@kernel
def first_unpulled(state: Any, arms: Indices) -> int:
    """Return the first position whose arm was never pulled, -1 when there is none."""
    for position in range(len(arms)):
        if state.pulls[arms[position]] == 0.0:
            return position
    return -1
