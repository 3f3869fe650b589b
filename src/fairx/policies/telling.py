"""What was played: how a policy that counts decisions, or their probabilities, is told of them.

Most policies learn from rewards alone, and are told nothing: what tells them is then nothing in
compiled code too. docs/extending.md has the design.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from fairx import rules
from fairx.compiled import compilable, record
from fairx.texts import short
from fairx.types import Indices, Vector


@compilable
class Told(Protocol):
    """A policy that is told of each decision, when it is made and before its reward."""

    def played(self, state: Any, arms: Indices, position: int, probabilities: Vector) -> None:
        """Note that the arm at `position` was drawn from these probabilities of the `arms` on offer."""
        ...


@compilable
class Teller(Protocol):
    """A way to tell a policy of a decision."""

    def tell(
        self, policy: Any, state: Any, arms: Indices, position: int, probabilities: Vector
    ) -> None:
        """Tell `policy` what was played."""
        ...


@record
class Nobody(NamedTuple):
    """Nobody asks."""

    empty: bool = True

    def tell(
        self, policy: Any, state: Any, arms: Indices, position: int, probabilities: Vector
    ) -> None:
        """Tell nobody."""


@record
class Itself(NamedTuple):
    """The policy asks."""

    empty: bool = True

    def tell(
        self, policy: Any, state: Any, arms: Indices, position: int, probabilities: Vector
    ) -> None:
        """Tell the policy."""
        policy.played(state, arms, position, probabilities)


@record
class Inner(NamedTuple):
    """The policy within a wrapper asks, whose state is the wrapper's too."""

    teller: Any

    def tell(
        self, policy: Any, state: Any, arms: Indices, position: int, probabilities: Vector
    ) -> None:
        """Tell the policy within, of the probabilities that were deployed."""
        self.teller.tell(policy.policy, state, arms, position, probabilities)


@record
class Theirs(NamedTuple):
    """A policy of others asks, which `Foreign` wraps."""

    empty: bool = True

    def tell(
        self, policy: Any, state: Any, arms: Indices, position: int, probabilities: Vector
    ) -> None:
        """Tell the policy, whose arms are those that it proposed for."""
        candidates = state.candidates[: len(arms)]
        policy.policy.played(state.inner, candidates, position, probabilities)


def teller_of(policy: Any) -> Any:
    """Return how the inner form of a policy is told what was played.

    Examples
    --------
    >>> from fairx import Uniform
    >>> type(teller_of(Uniform())).__name__
    'Nobody'
    """
    if hasattr(policy, "start_with"):
        return Theirs() if hasattr(policy.policy, "played") else Nobody()
    if hasattr(policy, "played"):
        return Itself()
    if getattr(policy, "shares_state", False):
        inner = teller_of(policy.policy)
        return inner if type(inner) is Nobody else Inner(inner)
    return Nobody()


def is_told(policy: Any) -> bool:
    """Tell whether a policy, or one within it, is told what was played."""
    return type(teller_of(policy)) is not Nobody


def check_one_place(policy: Any) -> None:
    """Refuse places for a policy that is told of decisions: of what a slate plays, it has no notion."""
    if is_told(policy):
        rule = f"learn from rewards alone to fill several places, not {short(policy)}"
        raise rules.InvalidValue("policy", f"{rule}: it is told of decisions of one arm")
