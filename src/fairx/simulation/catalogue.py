"""Rounds among many arms: choice, learning and both regrets, each in a time like the logarithm of their number.

Arms are *short* where they get less than their fair share, and the regret is twice what they lack. An
arm is short while its fair share over its weight is above the scale, which turns weights into
probabilities: as the scale moves, those that cross it are found in the tree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fairx.compiled import entry, kernel
from fairx.numerics.streams import BLOCK, Streams, fill_normals, fill_uniforms
from fairx.numerics.trees import (
    Tree,
    ask_for,
    ask_for_leaf,
    at,
    drawn,
    first_with,
    lift,
    lift_all,
    new_tree,
    put,
)
from fairx.types import Indices, Matrix, Vector

from .tally import Tally, lead, pass_mark

# Columns of the tree: sums of weights, of weights times means, of what is fair and of weights among the
# arms that are short; the least fair share over weight among them, and the most among the others.
WEIGHT, EARNING, FAIR, SHORT, LEAST_SHORT, MOST_OTHER = range(6)
FAR = 2.0**20  # how many times a scale their sum may be: what is added up by it is right to 1e-10
SCALES, ROUNDS = range(2)  # sums over the rounds so far: of scales, and of rounds


class Catalogue(NamedTuple):
    """Many arms: the tree of their weights, and what is added up of each only when it is asked for."""

    tree: Tree
    weights: Vector
    fair: Vector  # what is fair, less what each arm has in any case
    means: Vector
    settled: Matrix  # by arm: the two sums when its exposure was last added up
    sums: Vector
    changed: Indices


def new_catalogue(arms: int) -> Catalogue:
    """Return arms without weights."""
    room = np.zeros(
        arms, np.int64
    )  # arms that change in one round: a handful, or many that are alike
    weights, fair, means = np.zeros((3, arms))
    tree, settled = new_tree(arms, sums=4), np.zeros((arms, 2))
    return Catalogue(tree, weights, fair, means, settled, np.zeros(2), room)


@entry
def play_catalogue(  # type: ignore[no-untyped-def]
    policy, state, world, weigher, fair: Vector, keys: Streams, tally: Tally, catalogue: Catalogue,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Play the rounds from `start`, a multiple of the block, to `stop`."""
    arms, share = len(fair), weigher.equal_share()
    offered, each = range(arms), share / arms
    ahead, due, uniform = lead(fair, catalogue.means), 0.0, 0.0
    for arm in range(arms):
        due += fair[arm] * catalogue.means[arm]
        uniform += each * catalogue.means[arm]
    for t in range(start, stop):
        row = t % BLOCK
        if row == 0:
            block = t // BLOCK
            fill_uniforms(keys.reward, block, tally.uniforms[1])
            fill_uniforms(keys.choice, block, tally.uniforms[2])
            fill_normals(keys.reward_noise, block, 1, tally.noise)
        arm = weigher.unpulled(state, offered, t)
        if arm < arms:
            tally.fairness[0] += 2.0 * (1.0 - fair[arm])
            tally.reward[0] += due - catalogue.means[arm]
            tally.exposure[arm] += 1.0
        else:
            if catalogue.sums[ROUNDS] == 0.0:
                weigher.weigh_arms(state, offered, catalogue.weights, catalogue.changed)
                open_catalogue(catalogue, fair, share)
            scale, root = scale_of(catalogue, share), catalogue.tree.top
            if catalogue.sums[SCALES] > FAR * scale:
                begin_sums(catalogue, tally, each)
            arm = drawn(catalogue.tree, arms, scale, each, tally.uniforms[2, row])
            weigher.ask_for_arm(state, arm, arm)
            ask_for_arm(catalogue, tally, arm)
            tally.fairness[0] += 2.0 * (root[FAIR] - scale * root[SHORT])
            tally.reward[0] += due - (scale * root[EARNING] + uniform)
            catalogue.sums[SCALES] += scale
            catalogue.sums[ROUNDS] += 1.0
        reward = world.pay(0, arm, tally.uniforms[1, row], tally.noise[row])
        policy.absorb(state, arm, world.features[0][arm], reward, tally.work)
        if catalogue.sums[ROUNDS] > 0.0:
            count = weigher.reweigh(state, offered, arm, catalogue.weights, catalogue.changed)
            follow(catalogue, tally, count, share)
        tally.pulls[arm] += 1
        tally.sums[0] += ahead
        tally.sums[1] += reward
        if t + 1 == tally.marks[tally.next_mark[0]]:
            for other in range(arms):
                add_exposure(catalogue, tally, other, each)
            pass_mark(tally, t + 1)


@kernel
def ask_for_arm(catalogue: Catalogue, tally: Tally, arm: int) -> None:
    """Ask memory for all that is written of an arm, at once: it comes while rewards are learned."""
    ask_for_leaf(catalogue.tree, arm)
    ask_for(catalogue.means, arm)
    ask_for(catalogue.fair, arm)
    ask_for(catalogue.weights, arm)
    ask_for(catalogue.settled, 2 * arm)
    ask_for(tally.exposure, arm)
    ask_for(tally.pulls, arm)


@kernel
def scale_of(catalogue: Catalogue, share: float) -> float:
    """Return what turns weights into probabilities."""
    return (1.0 - share) / catalogue.tree.top[WEIGHT]  # type: ignore[no-any-return]


@kernel
def open_catalogue(catalogue: Catalogue, fair: Vector, share: float) -> None:
    """Build the tree: once for the weights, and once for who is short."""
    for scale in (math.inf, 0.0):
        if scale == 0.0:
            scale = scale_of(catalogue, share)
        for arm in range(len(fair)):
            catalogue.fair[arm] = fair[arm] - share / len(fair)
            put_arm(catalogue, arm, scale)
        lift_all(catalogue.tree)


@kernel
def put_arm(catalogue: Catalogue, arm: int, scale: float) -> None:
    """Write the leaf of an arm, which is short or not at this scale."""
    tree, weight, fair = catalogue.tree, catalogue.weights[arm], catalogue.fair[arm]
    ratio = fair / weight if weight > 0.0 else math.copysign(math.inf, fair)
    short = ratio > scale
    put(tree, arm, WEIGHT, weight)
    put(tree, arm, EARNING, weight * catalogue.means[arm])
    put(tree, arm, FAIR, fair if short else 0.0)
    put(tree, arm, SHORT, weight if short else 0.0)
    put(tree, arm, LEAST_SHORT, ratio if short else math.inf)
    put(tree, arm, MOST_OTHER, -math.inf if short else ratio)


@kernel
def follow(catalogue: Catalogue, tally: Tally, count: int, share: float) -> None:
    """Follow weights that changed, and then find who is short now."""
    arms, tree = len(catalogue.weights), catalogue.tree
    every = count == len(catalogue.changed)  # there may be more than were listed
    before = scale_of(catalogue, share)
    for i in range(arms if every else count):
        arm = i if every else catalogue.changed[i]
        add_exposure(catalogue, tally, arm, share / arms)
        put_arm(catalogue, arm, before)
        lift(tree, arm)
    scale = scale_of(catalogue, share)
    while tree.top[LEAST_SHORT] <= scale or tree.top[MOST_OTHER] > scale:
        arm = first_with(tree, LEAST_SHORT if tree.top[LEAST_SHORT] <= scale else MOST_OTHER)
        put_arm(catalogue, arm, scale)
        lift(tree, arm)


@kernel
def begin_sums(catalogue: Catalogue, tally: Tally, each: float) -> None:
    """Add up all exposures, and begin to sum scales anew: in the old sum a small one would be lost."""
    for arm in range(len(catalogue.weights)):
        add_exposure(catalogue, tally, arm, each)
        catalogue.settled[arm, SCALES] = 0.0
    catalogue.sums[SCALES] = 0.0


@kernel
def add_exposure(catalogue: Catalogue, tally: Tally, arm: int, each: float) -> None:
    """Add up the exposure of an arm since it was last done, when its weight was what the tree has."""
    weight = at(catalogue.tree, arm, WEIGHT)
    scales, rounds = catalogue.sums[SCALES], catalogue.sums[ROUNDS]
    since = catalogue.settled[arm]
    tally.exposure[arm] += weight * (scales - since[0]) + each * (rounds - since[1])
    since[0], since[1] = scales, rounds
