"""The same random numbers as a GPU likes to make them: when they are needed, with little memory.

Normal numbers come in pairs, for rounds half a block apart: the second of each waits in memory, or is made
again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fairx.compiled import kernel, meet, turns
from fairx.types import Keys, Matrix, Vector

from .streams import BLOCK, HALF, Numbers, normal_pair, uniform

BUFFERED = HALF + 1  # rounds whose normal numbers are in memory


class ThreadStreams(NamedTuple):
    """The keys of a run that one thread plays."""

    example: Keys
    reward: Keys
    reward_noise: Keys
    choice: Keys
    policy: Keys

    def draw_round(self, t: int, uniforms: Matrix, noise: Vector, normals: Vector) -> Numbers:
        """Make the numbers of one round, and the normal ones of the round half a block later."""
        row, each = t % BLOCK, normals.size // BUFFERED
        now, later = rows_of(normals, row, each)
        if row < HALF:
            for i in range(each):
                now[i], later[i] = normal_pair(self.policy, (t // BLOCK * HALF + row) * each + i)
        return numbers_with(self, t, now if row < HALF else later)


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
def rows_of(normals: Vector, row: int, each: int) -> tuple[Vector, Vector]:
    """Return room for the numbers of a round, and for those that wait half a block."""
    waiting = (row % HALF + 1) * each
    return normals[:each], normals[waiting : waiting + each]


@kernel
def numbers_with(keys: Any, t: int, normals: Vector) -> Numbers:
    """Return the numbers of a round, given those of the policy."""
    row = t % BLOCK
    first, second = normal_pair(keys.reward_noise, t // BLOCK * HALF + row % HALF)
    noise = first if row < HALF else second
    return Numbers(
        uniform(keys.example, t), uniform(keys.reward, t), uniform(keys.choice, t), noise, normals
    )
