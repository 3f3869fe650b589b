"""The same random numbers as a GPU likes to make them: when they are needed, with little memory.

Normal numbers come in pairs, for rounds half a block apart: the second of each waits in memory, or is made
again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import hidden, kernel, meet, settle, turns
from fairx.types import Keys, Matrix, Vector

from .streams import BLOCK, HALF, STEP, Numbers, normal_pair, normals_of, scrambled, uniform

LAST, LAST_OF_HALF = BLOCK - 1, HALF - 1  # of powers of two: no round is negative
GROUP = 7  # normal numbers that are made at a time: more hide more waiting, and take longer code


class ThreadStreams(NamedTuple):
    """The keys of a run that one thread plays."""

    example: Keys
    reward: Keys
    reward_noise: Keys
    choice: Keys
    policy: Keys

    def draw_round(self, t: int, uniforms: Matrix, noise: Vector, normals: Vector) -> Numbers:
        """Make the numbers of one round, and the normal ones of the round half a block later, which wait in `noise`."""
        row, each = t & LAST, normals.size
        begin = (row & LAST_OF_HALF) * each
        if row < HALF and each > 0:
            first = pair_of_round(t) * each
            size = -(-each // -(-each // GROUP))
            for begun in range(0, hidden(each), size):
                place = min(begun, each - size)
                start = np.uint64(first + place) * STEP
                radius, turn = self.policy[0] + start, self.policy[1] + start
                for i in range(place, place + size):
                    pair = normals_of(scrambled(radius), scrambled(turn))
                    normals[i], noise[begin + i] = pair
                    radius, turn = radius + STEP, turn + STEP
        else:
            for i in range(each):
                normals[i] = noise[begin + i]
        settle()
        return numbers_with(self, t, normals)


class WarpStreams(NamedTuple):
    """The keys of a run that the lanes of a warp play together."""

    example: Keys
    reward: Keys
    reward_noise: Keys
    choice: Keys
    policy: Keys

    def draw_round(self, t: int, uniforms: Matrix, noise: Vector, normals: Vector) -> Numbers:
        """Make each pair twice: memory is dearer here, and lanes are many."""
        each, is_first = normals.size, t & LAST < HALF
        meet()
        for i in turns(each):
            pair = normal_pair(self.policy, pair_of_round(t) * each + i)
            normals[i] = pair[0] if is_first else pair[1]
        meet()
        return numbers_with(self, t, normals)


@kernel
def pair_of_round(t: int) -> int:
    """Return which pair a round has a number of, as one half of a block and the other have.

    Examples
    --------
    >>> [pair_of_round(t) for t in (0, 7, 8, 15, 16)]
    [0, 7, 0, 7, 8]
    """
    return t // BLOCK * HALF + (t & LAST_OF_HALF)


@kernel
def numbers_with(keys: Any, t: int, normals: Vector) -> Numbers:
    """Return the numbers of a round, given those of the policy."""
    first, second = normal_pair(keys.reward_noise, pair_of_round(t))
    noise = first if t & LAST < HALF else second
    return Numbers(
        uniform(keys.example, t), uniform(keys.reward, t), uniform(keys.choice, t), noise, normals
    )
