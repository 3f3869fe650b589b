"""A bandit with many arms: a decision among all of them takes a time like the logarithm of their number.

Weights of arms are in a tree, as in a simulation (docs/scale.md). The probabilities of all arms are made
for those who ask: weights that change are noted as they were before, so that earlier decisions can tell
theirs as long as somebody has them.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import direct, entry
from fairx.numerics.streams import uniform
from fairx.numerics.trees import Tree, at, drawn, lift, lift_all, new_tree, put
from fairx.policies.many_arms import MANY, weigher_of
from fairx.policies.optimism import LARGE, SMALL
from fairx.types import Indices, Vector

from .chances import Chances, new_notes

__all__ = ["MANY", "ManyArms", "many_arms"]
UNPULLED, OPEN, NOTED = range(
    3
)  # the first arm never pulled; whether arms are weighed; notes taken
WEIGHT = 0  # the column of the tree
PROPENSITY, SCALE, EACH = range(3)  # of a decision


class Shelf(NamedTuple):
    """The arms on offer, by position, and what they weigh."""

    arms: Indices
    positions: Indices  # by arm; -1 of those that are not on offer
    tree: Tree
    weights: Vector
    changed: Indices
    marks: Indices
    made: Vector  # what is told of a decision


def new_shelf(offered: Indices, arms: int) -> Shelf:
    """Return arms that are not weighed yet."""
    positions = np.full(arms, -1, np.int64)
    positions[offered] = np.arange(len(offered))
    tree, weights = new_tree(len(offered), sums=1), np.zeros(len(offered))
    room, marks = np.zeros(max(len(offered), 1), np.int64), np.zeros(3, np.int64)
    return Shelf(offered, positions, tree, weights, room, marks, np.zeros(3))


@entry
def decide_among_many(weigher, state, shelf, choice_keys, t):  # type: ignore[no-untyped-def]
    """Return the position drawn in decision `t`, or -1 where weights cannot be added up."""
    marks, n = shelf.marks, len(shelf.arms)
    marks[UNPULLED] = weigher.unpulled(state, shelf.arms, marks[UNPULLED])
    if marks[UNPULLED] < n:
        shelf.made[PROPENSITY], shelf.made[SCALE], shelf.made[EACH] = 1.0, 0.0, 0.0
        return marks[UNPULLED]
    if marks[OPEN] == 0:
        weigher.weigh_arms(state, shelf.arms, shelf.weights, shelf.changed)
        for position in range(n):
            put(shelf.tree, position, WEIGHT, shelf.weights[position])
        lift_all(shelf.tree)
        marks[OPEN] = 1
    total, share = shelf.tree.top[WEIGHT], weigher.equal_share()
    if not SMALL < total < LARGE:
        return -1
    scale, each = (1.0 - share) / total, share / n
    position = drawn(shelf.tree, n, scale, each, uniform(choice_keys, t))
    shelf.made[PROPENSITY] = scale * shelf.weights[position] + each
    shelf.made[SCALE], shelf.made[EACH] = scale, each
    return position


@entry
def learn_among_many(policy, weigher, state, shelf, notes, arm, context, reward, work):  # type: ignore[no-untyped-def]
    """Learn a reward, and note the weights that it changes as they were."""
    policy.absorb(state, arm, context, reward, work)
    position, noted = shelf.positions[arm], shelf.marks[NOTED]
    if position >= 0 and shelf.marks[OPEN] == 1:
        count = weigher.reweigh(state, shelf.arms, position, shelf.weights, shelf.changed)
        every = count == len(shelf.changed)  # there may be more than were listed
        for i in range(len(shelf.arms) if every else count):
            position = i if every else shelf.changed[i]
            before = at(shelf.tree, position, WEIGHT)
            if before != shelf.weights[position]:
                notes.positions[noted], notes.before[noted] = position, before
                noted += 1
                put(shelf.tree, position, WEIGHT, shelf.weights[position])
                lift(shelf.tree, position)
    shelf.marks[NOTED] = noted
    return noted


class ManyArms:
    """Decides among all arms on offer, and learns."""

    def __init__(self, records: tuple[Any, Any, Any], shelf: Shelf, work: Vector) -> None:
        self.policy, self.weigher, self.state = records
        self.shelf, self._work = shelf, work
        self._notes, self._noted = new_notes(len(shelf.arms)), 0
        self._compile()

    def decide(
        self, choice_keys: Any, number: int, lock: threading.RLock
    ) -> tuple[int, float, Chances] | None:
        """Return the position drawn, its probability, and those of all; None where weights are lost."""
        position = int(self._decide(self._low, self.state, self.shelf, choice_keys, number))
        if position < 0:
            return None
        propensity, scale, each = self.shelf.made.tolist()
        only = position if scale == each == 0.0 else -1
        chances = Chances(lock, self.shelf.weights, self._notes, self._noted, (scale, each, only))
        return position, propensity, chances

    def learn(self, arm: int, context: Vector, reward: float) -> None:
        """Let the policy learn from a reward of `arm`."""
        self._noted = self._notes.filled = int(
            self._learn(
                *self._learners, self.state, self.shelf, self._notes.taken, arm, context, reward,
                self._work,
            )
        )  # fmt: skip
        if not self._notes.has_room(len(self.shelf.arms)):
            self._notes.next = self._notes = new_notes(len(self.shelf.arms))
            self._noted = self.shelf.marks[NOTED] = 0

    def _compile(self) -> None:
        """Compile the two steps for this policy, on a state and arms of their own."""
        blank = self.policy.start(len(self.shelf.positions), 0)
        few = new_shelf(np.empty(0, np.int64), len(self.shelf.positions))
        keys, context = np.zeros(2, np.uint64), np.empty(0)
        rest = (few, keys, 0)
        run, low = decide_among_many.ready((self.weigher, blank), lambda run, low: run(*low, *rest))
        self._low, self._decide = low[0], direct(run, (*low, *rest))
        taken = (few, self._notes.taken, 0, context, 0.0, self._work)
        learner = self.weigher if hasattr(self.weigher, "absorb") else self.policy
        run, low = learn_among_many.ready(
            (learner, self.weigher, blank), lambda run, low: run(*low, *taken)
        )
        self._learners, self._learn = low[:2], direct(run, (*low, *taken))


def many_arms(
    policy: Any, state: Any, offered: Indices, arms: int, reward_range: tuple[float, float]
) -> ManyArms | None:
    """Return what decides among many of the arms, if a reward changes the weights of few."""
    weigher = weigher_of(policy, arms, *reward_range)
    if weigher is None:
        return None
    work = np.empty(policy.needs(arms, 0)[1])
    return ManyArms((policy, weigher, state), new_shelf(offered, arms), work)
