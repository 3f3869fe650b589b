"""What one run adds up, and the buffers it works in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.compiled import kernel, kernel_with, meet, turns
from fairx.numerics.streams import BLOCK
from fairx.types import Indices, Matrix, Vector

CURVES = ("fairness_regret", "reward_regret", "best_arm_regret", "reward_earned")


class Tally(NamedTuple):
    """Sums over the rounds of one run, and room for one round and for the numbers of one block."""

    fairness: Vector  # by position: sums of |fair - deployed|
    reward: Vector  # by position: sums of (fair - deployed) * mean
    exposure: Vector  # by arm: sums of deployed probabilities
    pulls: Indices
    sums: Vector  # of what the best arm earns more than the fair policy, and of rewards
    measured: Vector  # by measure of the user's: sums
    curves: Matrix  # at the checkpoints: a row for each of CURVES and each measure
    exposures: Matrix  # (checkpoints, arms): the average exposure until then
    marks: Indices  # the checkpoints, and one that is never reached
    next_mark: Indices  # its index, and the checkpoint itself
    deployed: Vector
    fair: Vector
    means: Vector
    candidates: Indices  # copies, with rows of `seen`, for measures
    seen: Matrix
    contexts: Matrix  # room for those of a round, on a GPU
    work: Vector
    normals: Vector
    uniforms: Matrix
    noise: Vector


def new_tally(marks: Indices, arms: int, normals: int, work: int, measures: int = 0) -> Tally:
    """Return zeros."""
    return Tally(
        fairness=np.zeros(arms),
        reward=np.zeros(arms),
        exposure=np.zeros(arms),
        pulls=np.zeros(arms, np.int64),
        sums=np.zeros(2),
        measured=np.zeros(measures),
        curves=np.zeros((len(CURVES) + measures, marks.size)),
        exposures=np.zeros((marks.size, arms)),
        marks=np.append(marks, np.iinfo(np.int64).max),
        next_mark=np.array([0, marks[0]]),
        deployed=np.empty(arms),
        fair=np.empty(arms),
        means=np.empty(arms),
        candidates=np.empty(arms, np.int64),
        seen=np.full((5, arms), np.nan),
        contexts=np.empty((0, 0)),
        work=np.empty(work),
        normals=np.empty(BLOCK * normals),
        uniforms=np.empty((3, BLOCK)),
        noise=np.empty(BLOCK),
    )


@kernel
def lead(fair: Vector, means: Vector) -> float:
    """Return what the best arm earns more than the fair policy."""
    best, earned = means[0], 0.0
    for i in range(len(means)):
        best = max(best, means[i])
        earned += fair[i] * means[i]
    return best - earned  # type: ignore[no-any-return]


def _add_regrets_in_few(
    tally: Tally, n: int, deployed: Vector, fair: Vector, means: Vector
) -> None:
    """Add the regrets by position, or in one number each where there is room for no more."""
    for i in turns(n):
        gap = fair[i] - deployed[i]
        tally.fairness[i % len(tally.fairness)] += abs(gap)
        tally.reward[i % len(tally.reward)] += gap * means[i]


@kernel_with(_add_regrets_in_few)
def add_regrets(tally: Tally, n: int, deployed: Vector, fair: Vector, means: Vector) -> None:
    """Add the regrets of one round, by position."""
    for i in turns(n):
        gap = fair[i] - deployed[i]
        tally.fairness[i] += abs(gap)
        tally.reward[i] += gap * means[i]


@kernel
def add_round(
    tally: Tally, n: int, arms: Indices, deployed: Vector, fair: Vector, means: Vector, played: int,
    ahead: float, reward: float, rounds: int,
) -> None:  # fmt: skip
    """Add the regret and exposure of one round, in which `played` was; `rounds` include it."""
    add_regrets(tally, n, deployed, fair, means)
    for i in turns(n):
        tally.exposure[arms[i]] += deployed[i]
    for _ in turns(1):
        tally.pulls[played] += 1
        tally.sums[0] += ahead
        tally.sums[1] += reward
    pass_mark(tally, rounds)


@kernel
def pass_mark(tally: Tally, rounds: int) -> None:
    """Record what was added up, where these rounds are a checkpoint."""
    if rounds == tally.next_mark[1]:
        meet()
        for _ in turns(1):
            mark = tally.next_mark[0]
            add_mark(tally, mark, rounds)
            tally.next_mark[0], tally.next_mark[1] = mark + 1, tally.marks[mark + 1]
        meet()


@kernel
def add_mark(tally: Tally, mark: int, rounds: int) -> None:
    """Record what was added up until a checkpoint."""
    for i in range(len(tally.fairness)):
        tally.curves[0, mark] += tally.fairness[i]
        tally.curves[1, mark] += tally.reward[i]
    for i in range(len(tally.exposure)):
        tally.exposures[mark, i] = tally.exposure[i] / rounds
    tally.curves[2, mark] = tally.curves[1, mark] + tally.sums[0]
    tally.curves[3, mark] = tally.sums[1]
    for i in range(len(tally.measured)):
        tally.curves[4 + i, mark] = tally.measured[i]
