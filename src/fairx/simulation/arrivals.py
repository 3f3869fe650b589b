"""When rewards are learned: at once, or when they come."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx.compiled import compilable, record
from fairx.environments.late import Delays
from fairx.numerics.elementary import log
from fairx.numerics.streams import Streams, unit, word
from fairx.types import Indices, Matrix, Vector

NOBODY = -1


@compilable
class Arrivals(Protocol):
    """Takes rewards to a policy."""

    def take(
        self, policy: Any, state: Any, arm: int, context: Vector, reward: float, t: int,
        keys: Streams, work: Vector,
    ) -> None:  # fmt: skip
        """Take the reward of round `t`, and let the policy learn from all that are there."""
        ...


@record
class AtOnce(NamedTuple):
    """Each before the next decision."""

    empty: bool = True

    def take(
        self, policy: Any, state: Any, arm: int, context: Vector, reward: float, t: int,
        keys: Streams, work: Vector,
    ) -> None:  # fmt: skip
        """Let the policy learn."""
        policy.absorb(state, arm, context, reward, work)


class Queue(NamedTuple):
    """Rewards on their way: a list for each of the rounds to come, first decided first.

    The reward of round t lies in slot t modulo the number of slots, one more than the longest delay: it
    is gone before the slot is needed again.
    """

    delays: Delays
    heads: Indices  # by round in which they come: the slot of the first, and of the last
    tails: Indices
    after: Indices  # by slot: the one that comes next
    arms: Indices
    rewards: Vector
    contexts: Matrix

    def take(
        self, policy: Any, state: Any, arm: int, context: Vector, reward: float, t: int,
        keys: Streams, work: Vector,
    ) -> None:  # fmt: skip
        """Put the reward on its way, and let the policy learn from those that came."""
        slots, luck = len(self.heads), unit(word(keys.reward[1], t))
        lost, slot = self.delays.lost[arm], t % len(self.heads)
        if luck >= lost:
            delay, scale = self.delays.certain[arm], self.delays.scales[arm]
            if scale > 0.0:
                delay = float(int(-log((1.0 - luck) / (1.0 - lost)) * scale))
            if delay < slots:
                self.arms[slot], self.rewards[slot], self.after[slot] = arm, reward, NOBODY
                for i in range(len(context)):
                    self.contexts[slot, i] = context[i]
                due = (t + int(delay)) % slots
                if self.heads[due] == NOBODY:
                    self.heads[due] = slot
                else:
                    self.after[self.tails[due]] = slot
                self.tails[due] = slot
        come = self.heads[slot]
        self.heads[slot] = NOBODY
        while come != NOBODY:
            policy.absorb(state, self.arms[come], self.contexts[come], self.rewards[come], work)
            come = self.after[come]


def arrivals_by(delays: Delays | None, dimension: int) -> Any:
    """Return how rewards come to a policy in one run."""
    if delays is None:
        return AtOnce()
    slots = delays.longest + 1
    heads, tails, after = np.full((3, slots), NOBODY, np.int64)
    arms, rewards = np.zeros(slots, np.int64), np.zeros(slots)
    return Queue(delays, heads, tails, after, arms, rewards, np.zeros((slots, dimension)))
