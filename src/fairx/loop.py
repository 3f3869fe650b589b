"""The loop that every simulation runs, interpreted or compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiled import entry
from .exposure import choose, share
from .streams import BLOCK, Streams, fill_normals, fill_uniforms
from .types import Indices, Matrix, Vector


class Tally(NamedTuple):
    """Everything one run adds up, and the buffers it works in."""

    fairness: Vector  # by position: sums of |fair - deployed|
    reward: Vector  # by position: sums of (fair - deployed) * mean
    exposure: Vector  # by arm: sums of deployed probabilities
    pulls: Indices
    curves: Matrix  # row 0: fairness regret at the checkpoints, row 1: reward regret
    marks: Indices  # the checkpoints, and one that is never reached
    next_mark: Indices
    deployed: Vector
    fair: Vector
    means: Vector
    work: Vector
    normals: Vector
    uniforms: Matrix
    noise: Vector


def new_tally(marks: Indices, arms: int, normals: int, work: int) -> Tally:
    """Return zeros."""
    return Tally(
        fairness=np.zeros(arms),
        reward=np.zeros(arms),
        exposure=np.zeros(arms),
        pulls=np.zeros(arms, np.int64),
        curves=np.zeros((2, marks.size)),
        marks=np.append(marks, np.iinfo(np.int64).max),
        next_mark=np.zeros(1, np.int64),
        deployed=np.empty(arms),
        fair=np.empty(arms),
        means=np.empty(arms),
        work=np.empty(work),
        normals=np.empty(BLOCK * normals),
        uniforms=np.empty((3, BLOCK)),
        noise=np.empty(BLOCK),
    )


@entry
def play(  # type: ignore[no-untyped-def]
    policy, state, world, judge, keys: Streams, tally: Tally, start: int, stop: int
) -> None:
    """Play the rounds from `start`, a multiple of the block, to `stop`."""
    each = tally.normals.size // BLOCK
    last = -1
    for t in range(start, stop):
        row = t % BLOCK
        if row == 0:
            block = t // BLOCK
            fill_uniforms(keys.example, block, tally.uniforms[0])
            fill_uniforms(keys.reward, block, tally.uniforms[1])
            fill_uniforms(keys.choice, block, tally.uniforms[2])
            fill_normals(keys.reward_noise, block, 1, tally.noise)
            fill_normals(keys.policy, block, each, tally.normals)
        example = world.pick(tally.uniforms[0, row])
        arms = world.offer(example)
        n = len(arms)
        contexts = world.features[world.row(example)][:n]
        deployed = tally.deployed[:n]
        normals = tally.normals[row * each : (row + 1) * each]
        policy.propose(state, arms, contexts, normals, tally.work, deployed)
        slot = choose(deployed, tally.uniforms[2, row])
        arm = arms[slot]
        reward = world.pay(example, arm, tally.uniforms[1, row], tally.noise[row])
        policy.absorb(state, arm, contexts[slot], reward, tally.work)

        fair, means = tally.fair[:n], tally.means[:n]
        if example != last:
            world.fill_means(example, means)
            share(judge, means, fair)
            last = example
        for i in range(n):
            gap = fair[i] - deployed[i]
            tally.fairness[i] += abs(gap)
            tally.reward[i] += gap * means[i]
        for i in range(n):
            tally.exposure[arms[i]] += deployed[i]
        tally.pulls[arm] += 1
        if t + 1 == tally.marks[tally.next_mark[0]]:
            for i in range(len(tally.fairness)):
                tally.curves[0, tally.next_mark[0]] += tally.fairness[i]
                tally.curves[1, tally.next_mark[0]] += tally.reward[i]
            tally.next_mark[0] += 1
