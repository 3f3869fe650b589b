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

GROUP = 5  # normal numbers that are made at a time: more hide more waiting, and take longer code


class ThreadStreams(NamedTuple):
    """The keys of a run that one thread plays."""

    example: Keys
    reward: Keys
    reward_noise: Keys
    choice: Keys
    policy: Keys

    def draw_round(self, t: int, uniforms: Matrix, noise: Vector, normals: Vector) -> Numbers:
        """Make the numbers of one round, and the normal ones of the round half a block later, which wait in `noise`."""
        row, each = t % BLOCK, normals.size
        waiting = noise[row % HALF * each : (row % HALF + 1) * each]
        if row < HALF and each > 0:
            first = (t // BLOCK * HALF + row) * each
            size = -(-each // -(-each // GROUP))
            for begun in range(0, hidden(each), size):
                place = min(begun, each - size)
                start = np.uint64(first + place) * STEP
                radius, turn = self.policy[0] + start, self.policy[1] + start
                for i in range(place, place + size):
                    normals[i], waiting[i] = normals_of(scrambled(radius), scrambled(turn))
                    radius, turn = radius + STEP, turn + STEP
        else:
            for i in range(each):
                normals[i] = waiting[i]
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
        row, each = t % BLOCK, normals.size
        meet()
        for i in turns(each):
            pair = normal_pair(self.policy, (t // BLOCK * HALF + row % HALF) * each + i)
            normals[i] = pair[0] if row < HALF else pair[1]
        meet()
        return numbers_with(self, t, normals)


@kernel
def numbers_with(keys: Any, t: int, normals: Vector) -> Numbers:
    """Return the numbers of a round, given those of the policy."""
    row = t % BLOCK
    first, second = normal_pair(keys.reward_noise, t // BLOCK * HALF + row % HALF)
    noise = first if row < HALF else second
    return Numbers(
        uniform(keys.example, t), uniform(keys.reward, t), uniform(keys.choice, t), noise, normals
    )
