"""Many arms: what each of them weighs, where one reward changes the weights of few.

The probability of an arm is its weight over the sum of all, but for a part of the time that is shared
equally. A *weigher* stands beside a policy, which learns as ever (`absorb`), and tells what weighs
something else since then (docs/scale.md says where it takes the place of `propose`).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from fairx.compiled import compilable, is_overridden
from fairx.merit import Merit
from fairx.numerics.trees import ask_for
from fairx.types import Indices, Vector

WITHIN = 200.0  # logarithms of merits of which no sum is lost or infinite
WEIGHED = {"propose": "weigher", "absorb": "weigher"}  # what a weigher stands for
MANY = 512  # arms, from which on a tree is faster than all of them in a row; docs/scale.md tells


@compilable
class Weigher(Protocol):
    """What each of the arms on offer weighs, by position."""

    def equal_share(self) -> float:
        """Return the part of the time in which all arms have the same chance."""
        ...

    def unpulled(self, state: Any, arms: Indices, start: int) -> int:
        """Return the first position from `start` on that is to be played before anything is weighed.

        As many as there are arms means that there is none.
        """
        ...

    def weigh_arms(self, state: Any, arms: Indices, weights: Vector, room: Indices) -> None:
        """Write the weights of all arms; `room` is to work in."""
        ...

    def reweigh(
        self, state: Any, arms: Indices, position: int, weights: Vector, changed: Indices
    ) -> int:
        """Follow a reward of one arm: write new weights, list their positions, and return how many.

        As many as the list has room for means that there may be more.
        """
        ...

    def ask_for_arm(self, state: Any, arm: int, position: int) -> None:
        """Ask memory for what a reward of the arm will need."""
        ...


class KeptMerits(NamedTuple):
    """Weights that the policy keeps itself, one of which changes with a reward."""

    epsilon: float

    def equal_share(self) -> float:
        """Return the policy's."""
        return self.epsilon

    def unpulled(self, state: Any, arms: Indices, start: int) -> int:
        """Wait for nothing."""
        return len(arms)

    def weigh_arms(self, state: Any, arms: Indices, weights: Vector, room: Indices) -> None:
        """Write the merits of the estimates."""
        for position in range(len(arms)):
            weights[position] = state.merits[arms[position]]

    def reweigh(
        self, state: Any, arms: Indices, position: int, weights: Vector, changed: Indices
    ) -> int:
        """Write the merit of the new estimate."""
        weights[position], changed[0] = state.merits[arms[position]], position
        return 1

    def ask_for_arm(self, state: Any, arm: int, position: int) -> None:
        """Ask for the estimate."""
        for part in state:
            ask_for(part, arm)


class KnownWeights(NamedTuple):
    """Weights that never change."""

    known: Vector

    def equal_share(self) -> float:
        """Explore nothing."""
        return 0.0

    def unpulled(self, state: Any, arms: Indices, start: int) -> int:
        """Wait for nothing."""
        return len(arms)

    def weigh_arms(self, state: Any, arms: Indices, weights: Vector, room: Indices) -> None:
        """Write what is known."""
        for position in range(len(arms)):
            weights[position] = self.known[arms[position]]

    def reweigh(
        self, state: Any, arms: Indices, position: int, weights: Vector, changed: Indices
    ) -> int:
        """Change nothing."""
        return 0

    def ask_for_arm(self, state: Any, arm: int, position: int) -> None:
        """Need nothing."""

    def absorb(self, state: Any, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Learn nothing: the policy, whose record may be large, is not needed."""


def weigher_of(policy: Any, arms: int, low: float, high: float) -> Any:
    """Return what weighs the arms of a policy, for rewards from `low` to `high`, if one can.

    Examples
    --------
    >>> from fairx import Exponential, FairXEG, FairXTS
    >>> weigher_of(FairXEG(Exponential(4), 0.1), 1000, 0, 1)
    KeptMerits(epsilon=0.1)
    >>> weigher_of(FairXTS(Exponential(4), 1, 1), 1000, 0, 1)  # draws a number for each arm
    """
    if not hasattr(policy, "weigher") or is_overridden(policy, WEIGHED):
        return None
    return policy.weigher(arms, low, high)


def weigher_of_merits(merit: Merit, epsilon: float, low: float, high: float) -> KeptMerits | None:
    """Return what weighs the merits of means from `low` to `high`, and of 0, if they can be added."""
    return KeptMerits(epsilon) if can_be_added(merit, min(low, 0.0), max(high, 0.0)) else None


def can_be_added(merit: Merit, low: float, high: float) -> bool:
    """Tell whether sums of merits are neither lost nor infinite.

    One of others may raise an error outside of its domain, where few rewards are, or none.

    Examples
    --------
    >>> from fairx import Exponential
    >>> can_be_added(Exponential(10), 0, 1), can_be_added(Exponential(1000), 0, 1)
    (True, False)
    """
    try:
        return abs(merit.log(low)) < WITHIN and abs(merit.log(high)) < WITHIN
    except (ArithmeticError, ValueError):
        return False
