"""Forgetting: rewards count for less with each that comes after them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .wrapping import check_counting

LEAST = 1e-6  # pulls that an arm keeps, with its mean: less could not be told from none


@record
class Discounted(NamedTuple):
    """Multiply what was counted by `discount` with each new reward, and be else as `policy` is.

    Parameters
    ----------
    policy
        One whose state follows from counts and sums of rewards: all of ours without contexts but
        those that are told what was played, and intervals by variance.
    discount
        Below 1: about 1 / (1 - discount) rewards, of all arms together, are remembered.

    Notes
    -----
    Counts are sums of powers of the discount, and nothing winds up: an arm that is not played keeps its
    mean and ever fewer pulls, a millionth at least. Intervals then grow, posteriors go back to the prior. Each
    reward moves all arms. The pulls that UCB policies make of each arm first come once.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import TS, Discounted
    >>> policy = Discounted(TS(prior_std=1, reward_std=0.5), discount=0.5)
    >>> state = policy.start(arms=2, dimension=0)
    >>> for arm in (0, 0, 1):
    ...     policy.learn(state, arm, np.empty(0), 1.0)
    >>> state.pulls, state.reward_sums
    (array([0.75, 1.  ]), array([0.75, 1.  ]))
    """

    policy: Any
    discount: float

    def checked(self) -> Discounted:
        """Refuse a discount that is none."""
        check_counting(self.policy)
        if not rules.positive("discount", self.discount) < 1:
            raise rules.InvalidValue("discount", f"be below 1, not {self.discount!r}")
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse what the policy within refuses, whose intervals grow while an arm is not played.

        Examples
        --------
        >>> from fairx import Affine, Discounted, FairXUCB
        >>> Discounted(FairXUCB(Affine(1, 0.6), width=0.5), discount=0.99).check_reach(0, 1)
        Traceback (most recent call last):
        InvalidValue: merit must be positive wherever an interval can reach, but Affine(slope=1.0, intercept=0.6) is not at mean -500: give bounds=(low, high), the lowest and the highest mean there can be
        """
        widest = self.policy
        if hasattr(widest, "width"):
            widest = changed(widest, width=widest.width / math.sqrt(LEAST))
        if hasattr(widest, "check_reach"):
            widest.check_reach(low, high)

    @property
    def any_order(self) -> bool:
        """Promise nothing: what came last counts most."""
        return False

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
        """Let the policy within decide."""
        self.policy.propose(state, arms, contexts, normals, work, out)

    def absorb(self, state: Any, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Let all counts fade, and take in the reward."""
        for other in range(len(state.pulls)):
            pulls = state.pulls[other]
            if pulls > 0.0:
                kept = max(self.discount * pulls, LEAST)
                state.pulls[other] = kept
                state.reward_sums[other] *= kept / pulls
                if other != arm:  # a last reward of 0 makes all else follow from the counts
                    state.pulls[other] -= 1.0
                    self.policy.absorb(state, other, context, 0.0, work)
        self.policy.absorb(state, arm, context, reward, work)

    def probabilities(
        self, state: Any, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the probabilities of the policy within."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Any, arm: int, context: Vector, reward: float) -> None:
        """Let all counts fade, and take in a reward of `arm`."""
        observe(self, state, arm, context, reward)
