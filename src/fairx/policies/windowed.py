"""Forgetting: the last rewards count, and those before them do not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import record
from fairx.types import Indices, Matrix, Vector

from .base import deploy, observe
from .wrapping import check_counting


class Recent(NamedTuple):
    """What was learned from the rewards in the window, those rewards, and what is known of none."""

    inner: Any
    fresh: Any  # the state before the first reward
    arms: Vector
    rewards: Vector
    learned: Vector  # one number: how many rewards came in all


@record
class Windowed(NamedTuple):
    """Learn from the last `window` rewards alone, of all arms together, and be else as `policy` is.

    Parameters
    ----------
    policy
        One whose state follows from counts and sums of rewards: all of ours without contexts but
        those that are told what was played, and intervals by variance.
    window
        How many rewards are remembered, and kept in memory.

    Notes
    -----
    An arm whose last reward leaves the window is as if it had never been played. Sums are those of
    rewards added and taken away again: exact for whole numbers, and else up to their rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import TS, Windowed
    >>> policy = Windowed(TS(prior_std=1, reward_std=0.5), window=2)
    >>> state = policy.start(arms=2, dimension=0)
    >>> for arm in (0, 0, 1):
    ...     policy.learn(state, arm, np.empty(0), 1.0)
    >>> state.inner.pulls
    array([1., 1.])
    """

    policy: Any
    window: int

    def checked(self) -> Windowed:
        """Refuse a window that holds nothing."""
        check_counting(self.policy)
        rules.count("window", self.window)
        return self

    def check_reach(self, low: float, high: float) -> None:
        """Refuse what the policy within refuses."""
        if hasattr(self.policy, "check_reach"):
            self.policy.check_reach(low, high)

    @property
    def any_order(self) -> bool:
        """Promise nothing: what came first is forgotten."""
        return False

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for what the policy within does."""
        needed: tuple[int, int] = self.policy.needs(arms, dimension)
        return needed

    def start(self, arms: int, dimension: int = 0) -> Recent:
        """Return an empty window."""
        inner, fresh = (self.policy.start(arms, dimension) for _ in range(2))
        arms_seen, rewards = np.zeros((2, self.window))
        return Recent(inner, fresh, arms_seen, rewards, np.zeros(1))

    def propose(
        self,
        state: Recent,
        arms: Indices,
        contexts: Matrix,
        normals: Vector,
        work: Vector,
        out: Vector,
    ) -> None:
        """Let the policy within decide."""
        self.policy.propose(state.inner, arms, contexts, normals, work, out)

    def absorb(self, state: Recent, arm: int, context: Vector, reward: float, work: Vector) -> None:
        """Take in the reward, and forget the one that leaves the window."""
        inner, slot = state.inner, int(state.learned[0]) % self.window
        if state.learned[0] >= self.window:
            old = int(state.arms[slot])
            if inner.pulls[old] > 1.0:  # a last reward of 0 makes all else follow from the counts
                inner.pulls[old] -= 2.0
                inner.reward_sums[old] -= state.rewards[slot]
                self.policy.absorb(inner, old, context, 0.0, work)
            else:
                for part in range(len(inner)):
                    inner[part][old] = state.fresh[part][old]
        state.arms[slot], state.rewards[slot] = float(arm), reward
        state.learned[0] += 1.0
        self.policy.absorb(inner, arm, context, reward, work)

    def probabilities(
        self, state: Recent, arms: Indices, contexts: Matrix, rng: np.random.Generator
    ) -> Vector:
        """Return the probabilities of the policy within."""
        return deploy(self, state, arms, contexts, rng)

    def learn(self, state: Recent, arm: int, context: Vector, reward: float) -> None:
        """Take in a reward of `arm`, and forget the one that leaves the window."""
        observe(self, state, arm, context, reward)
