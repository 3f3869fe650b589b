"""Policies of others: the public door, made to fit the loops that call the inner form."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import kernel, own_copy
from fairx.types import Indices, Matrix, Vector


class NotADistribution(ValueError):
    """Probabilities that are not one for each arm on offer, at least 0, with sum 1."""


class ForeignState(NamedTuple):
    """The state of a policy of others, its random generator, and room for the arms on offer."""

    inner: Any
    rng: np.random.Generator
    candidates: Indices
    found: Vector  # how many probabilities it gave last, their sum, and the least of them


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
        inner = self.policy.start(arms, dimension)
        return ForeignState(inner, rng, np.empty(arms, np.int64), np.zeros(3))

    def complaint(self, state: ForeignState) -> str:
        """Return what is wrong with the probabilities that the policy gave last."""
        return complaint(self.policy, state.found)

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
        if not is_distribution(found, state.found) or len(found) != len(arms):
            raise NotADistribution
        for position in range(len(arms)):
            out[position] = found[position]

    def absorb(
        self, state: ForeignState, arm: int, context: Vector, reward: float, work: Vector
    ) -> None:
        """Let the policy learn."""
        self.policy.learn(state.inner, arm, context, reward)


def complaint(policy: Any, found: Vector) -> str:
    """Return what is wrong with probabilities, of which `is_distribution` wrote what it found."""
    number, total, least = found
    wrong = f"are {number:g} numbers with sum {total:.12g}, the least {least:.6g}"
    rule = "one for each arm on offer, at least 0, with sum 1"
    return f"probabilities must be {rule}, but those of {policy!r} {wrong}"


@kernel
def is_distribution(probabilities: Vector, found: Vector) -> bool:
    """Tell whether these are probabilities, and write their number, sum and least: NaN is not."""
    total, least = 0.0, math.inf
    for position in range(len(probabilities)):
        total += probabilities[position]
        least = min(least, probabilities[position])
    found[0], found[1], found[2] = len(probabilities), total, least
    # Stricter than for logs, which may be rounded: these are numbers that a policy has just computed.
    return abs(total - 1.0) < 1e-9 and least >= 0.0


def wrapped(policy: Any) -> Foreign:
    """Return the record that makes a policy of others fit, if it has the three methods."""
    for door in ("start", "probabilities", "learn"):
        if not callable(getattr(policy, door, None)):
            raise TypeError(
                f"policy must have start, probabilities and learn, but {policy!r} has no {door}"
            )
    return Foreign(policy)
