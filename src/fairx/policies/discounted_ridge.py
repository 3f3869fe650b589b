"""Forgetting with contexts: a ridge regression whose rewards count for less with each that comes after."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import kernel, meet, record, turns
from fairx.texts import short
from fairx.types import Indices, Matrix, Vector

from .base import deploy, least_arms, observe
from .ridge import Ridge, refactor
from .wrapping import check_inner


class Fading(NamedTuple):
    """A regression, and how its ridge is put back."""

    inner: Ridge
    plan: Vector  # coordinates that have their turn in a round, rounds between turns, and what each gets


@record
class DiscountedRidge(NamedTuple):
    """Multiply what a regression has learned by `discount` with each new reward, but for its ridge.

    Parameters
    ----------
    policy
        One of ours with contexts: `FairXLinUCB`, `FairXLinTS`, `FairXLinEG`, `LinUCB`, `LinTS`, `LinEG`.
    discount
        Below 1: about 1 / (1 - discount) rewards are remembered.

    Notes
    -----
    The precision is V = sum of discount**age x x' + R, where R would be the ridge times the identity
    (Russac, Vernade and Cappe 2019). To put all of it back after each discount takes O(d**3). Here one coordinate
    after the other gets back what it lost since its last turn, as by a reward of 0 for it: O(d**2), or as
    many coordinates a round as keep R between half of the ridge and all of it (twice, before the first turns
    are over). So V is never below half of the ridge in any direction, also in those that no context
    has: without R it would go to 0 there, its inverse to infinity, and rounding errors with it. V itself is not inverted:
    its inverse is kept as W'DW, whose scales D stay positive by products of positive numbers, and rounding errors are
    forgotten like rewards. `Confidence(...)` counts all rewards, also those that are forgotten.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import DiscountedRidge, LinEG
    >>> policy = DiscountedRidge(LinEG(epsilon=0.1, ridge=1), discount=0.9)
    >>> state = policy.start(arms=2, dimension=2)
    >>> for reward in [0.0] * 50 + [1.0] * 50:
    ...     policy.learn(state, 0, np.array([1.0, 0.0]), reward)
    >>> state.inner.estimate.round(2), state.inner.precision.diagonal().round(2)
    (array([0.91, 0.  ]), array([10.9,  1. ]))
    """

    policy: Any
    discount: float

    def checked(self) -> DiscountedRidge:
        """Refuse a policy without a regression, and a discount that is none."""
        check_inner(self.policy)
        if type(self.policy.start(least_arms(self.policy), 1)) is not Ridge:
            rule = (
                f"learn by a ridge regression, not {short(self.policy)}: Discounted is for counts"
            )
            raise rules.InvalidValue("policy", rule)
        if not rules.positive("discount", self.discount) < 1:
            raise rules.InvalidValue("discount", f"be below 1, not {self.discount!r}")
        return self

    @property
    def any_order(self) -> bool:
        """Promise nothing: what came last counts most."""
        return False

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for what the policy within does."""
        needed: tuple[int, int] = self.policy.needs(arms, dimension)
        return needed

    def start(self, arms: int, dimension: int) -> Fading:
        """Return an empty regression, and the plan for its ridge."""
        inner = self.policy.start(arms, dimension)
        each = min(dimension, math.ceil(dimension * math.log(1.0 / self.discount) / math.log(2.0)))
        between = math.ceil(dimension / each)
        weight = float(inner.precision[0, 0]) * (1.0 - self.discount**between)
        return Fading(inner, np.array([each, between, weight]))

    def propose(
        self,
        state: Fading,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Let the policy within decide."""
        self.policy.propose(state.inner, arms, contexts, normals, work, out)

    def absorb(self, state: Fading, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Let the regression fade, put a part of its ridge back, and take in the reward."""
        inner = state.inner
        fade(inner, self.discount)
        each, between = int(state.plan[0]), int(state.plan[1])
        first = int(inner.observations[0]) % between * each
        for coordinate in range(first, min(first + each, len(inner.scales))):
            put_back(inner, coordinate, state.plan[2], work)
        self.policy.absorb(inner, arm, context, reward, work)

    def probabilities(
        self, state: Fading, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the probabilities of the policy within."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Fading, arm: int, context: Vector, reward: float) -> None:
        """Let the regression fade, and take in a context and its reward."""
        observe(self, state, arm, context, reward)


@kernel
def fade(state: Ridge, discount: float) -> None:
    """Multiply the precision and the target; the estimate stays."""
    meet()
    for i in turns(len(state.scales)):
        state.scales[i] /= discount
        state.target[i] *= discount
        for j in range(len(state.scales)):
            state.precision[i, j] *= discount
    meet()


@kernel
def put_back(state: Ridge, coordinate: int, weight: float, work: Vector) -> None:
    """Add `weight` to one entry of the diagonal, by a reward of 0."""
    d, root = len(state.scales), math.sqrt(weight)
    turned, gain = work[:d], work[d : 2 * d]
    for i in range(d):  # W is lower triangular: above its diagonal are zeros
        turned[i] = root * state.factor[i, coordinate]
    spread = refactor(state, turned, gain)
    surprise = -root * state.estimate[coordinate] / spread
    meet()
    for i in turns(d):
        state.estimate[i] += surprise * gain[i]
    meet()
    state.precision[coordinate, coordinate] += weight
