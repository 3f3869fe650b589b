"""Policies of others: the public door, made to fit the loops that call the inner form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import kernel, own_copy
from fairx.types import Indices, Matrix, Vector


class ForeignState(NamedTuple):
    """The state of a policy of others, its random generator, and room for the arms on offer."""

    inner: Any
    rng: np.random.Generator
    candidates: Indices


class Foreign(NamedTuple):
    """A policy with `start`, `probabilities` and `learn` alone, as the loops want it."""

    policy: Any

    def for_one_run(self) -> Foreign:
        """Return a copy, whose policy may keep its state in itself."""
        return Foreign(own_copy(self.policy))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for nothing: the policy draws from its own generator."""
        return 0, 0

    def start_with(self, arms: int, dimension: int, rng: np.random.Generator) -> ForeignState:
        """Return the policy's state, with the generator of this run."""
        return ForeignState(self.policy.start(arms, dimension), rng, np.empty(arms, np.int64))

    def propose(
        self,
        state: ForeignState,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Copy the probabilities."""
        candidates = state.candidates[: len(arms)]
        for position in range(len(arms)):
            candidates[position] = arms[position]
        found = self.policy.probabilities(state.inner, candidates, contexts, state.rng)
        for position in range(len(arms)):
            out[position] = found[position]
        check_distribution(out)

    def absorb(
        self, state: ForeignState, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Let the policy learn."""
        self.policy.learn(state.inner, arm, context, reward)


@kernel
def check_distribution(probabilities: Vector) -> None:
    """Refuse what is not a distribution: without this, NaN would pass for a choice."""
    total, lowest = 0.0, 0.0
    for position in range(len(probabilities)):
        total += probabilities[position]
        lowest = min(lowest, probabilities[position])
    # Stricter than for logs, which may be rounded: these are numbers that a policy has just computed.
    if not (abs(total - 1.0) < 1e-9 and lowest >= 0.0):
        raise ValueError("probabilities must be at least 0 and sum to 1, but this policy's are not")


def wrapped(policy: Any) -> Foreign:
    """Return the record that makes a policy of others fit, if it has the three methods."""
    for door in ("start", "probabilities", "learn"):
        if not callable(getattr(policy, door, None)):
            raise TypeError(
                f"policy must have start, probabilities and learn, but {policy!r} has no {door}"
            )
    return Foreign(policy)
