"""A floor under the probabilities of any policy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.exposure import mix
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .wrapping import check_inner


@record
class Floor(NamedTuple):
    """Play each arm on offer with a probability of `share` at least, and as `policy` does for the rest.

    Notes
    -----
    Of n arms on offer each has share + (1 - n share) p, p its probability by `policy`; where n share is
    above 1, all have 1 / n. It is the floor of the service. A policy that is told what was played is told
    these probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import UCB, Floor
    >>> policy = Floor(UCB(width=0.1), share=0.05)
    >>> state = policy.start(arms=2, dimension=0)
    >>> policy.probabilities(state, np.arange(2), np.empty((2, 0)), np.random.default_rng(0))
    array([0.95, 0.05])
    """

    policy: Any
    share: float

    def checked(self) -> Floor:
        """Refuse a share outside 0 to 1."""
        check_inner(self.policy)
        rules.number("share", self.share, low=0, high=1)
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse what the policy within refuses."""
        if hasattr(self.policy, "check_reach"):
            self.policy.check_reach(low, high)

    @property
    def shares_state(self) -> bool:
        """Say that the state is that of the policy within, which is told what was played."""
        return True

    @property
    def any_order(self) -> bool:
        """Whether the policy within promises it."""
        return bool(getattr(self.policy, "any_order", True))

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for what the policy within does."""
        needed: tuple[int, int] = self.policy.needs(arms, dimension)
        return needed

    def start(self, arms: int, dimension: int = 0) -> Any:
        """Return the state of the policy within."""
        return self.policy.start(arms, dimension)

    def propose(
        self,
        state: Any,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Raise the floor."""
        self.policy.propose(state, arms, contexts, normals, work, out)
        floors = min(self.share * len(arms), 1.0)
        mix(out, 1.0 - floors, floors)

    def absorb(self, state: Any, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Let the policy within learn."""
        self.policy.absorb(state, arm, context, reward, work)

    def probabilities(
        self, state: Any, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the probabilities of the policy within, above the floor."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Any, arm: int, context: Vector, reward: float) -> None:
        """Take in a reward of `arm`."""
        observe(self, state, arm, context, reward)
