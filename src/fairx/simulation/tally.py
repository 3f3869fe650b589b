"""What one run adds up, and the buffers it works in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.compiled import spliced
from fairx.numerics.streams import BLOCK
from fairx.types import Indices, Matrix, Vector


class Tally(NamedTuple):
    """Sums over the rounds of one run, and room for one round and for the numbers of one block."""

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


@spliced
def add_round(
    tally: Tally, n: int, arms: Indices, deployed: Vector, fair: Vector, means: Vector, played: int,
    rounds: int,
) -> None:  # fmt: skip
    """Add the regret and exposure of one round, in which `played` was; `rounds` include it."""
    for i in range(n):
        gap = fair[i] - deployed[i]
        tally.fairness[i] += abs(gap)
        tally.reward[i] += gap * means[i]
    for i in range(n):
        tally.exposure[arms[i]] += deployed[i]
    tally.pulls[played] += 1
    if rounds == tally.marks[tally.next_mark[0]]:
        for i in range(len(tally.fairness)):
            tally.curves[0, tally.next_mark[0]] += tally.fairness[i]
            tally.curves[1, tally.next_mark[0]] += tally.reward[i]
        tally.next_mark[0] += 1
