"""Random numbers by counting: each is a function of (seed, run, round, position) alone.

No state is carried from one number to the next, so results cannot depend on threads, on the
order of the work or on where it was interrupted. The generator is SplitMix64 (Steele, Lea and
Flood 2014) read at any position; keys come from NumPy's `SeedSequence`. Normal numbers are
made in pairs (Box-Muller) for rounds half a block apart, so that one loop fills a whole block.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from fairx.compiled import compilable, is_exact, kernel, kernel_with, outlined
from fairx.types import Keys, Matrix, Vector

from .directions import direction_by_quarters
from .elementary import log, root, sine_and_cosine

BLOCK = 16
HALF = BLOCK // 2
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
A, B, C, TWELVE = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(12)
ONE = np.uint64(0x3FF0000000000000)


class Numbers(NamedTuple):
    """The random numbers of one round."""

    example: float  # uniform, as the next two
    reward: float
    choice: float
    noise: float  # normal
    normals: Vector  # those of the policy


@compilable
class Drawing(Protocol):
    """A way to make the random numbers of a run: the same ones, whichever it is."""

    def draw_round(self, t: int, uniforms: Matrix, noise: Vector, normals: Vector) -> Numbers:
        """Return the numbers of round `t`, given room for a block; rounds come one after the other."""
        ...


class Streams(NamedTuple):
    """The keys of one run: policies compared under one seed meet the same world."""

    example: Keys
    reward: Keys
    reward_noise: Keys
    choice: Keys
    policy: Keys

    def draw_round(self, t: int, uniforms: Matrix, noise: Vector, normals: Vector) -> Numbers:
        """Make those of a whole block when its first round comes."""
        row, each = t % BLOCK, normals.size // BLOCK
        if row == 0:
            block = t // BLOCK
            fill_uniforms(self.example, block, uniforms[0])
            fill_uniforms(self.reward, block, uniforms[1])
            fill_uniforms(self.choice, block, uniforms[2])
            fill_normals(self.reward_noise, block, 1, noise)
            fill_normals(self.policy, block, each, normals)
        return Numbers(
            uniforms[0, row], uniforms[1, row], uniforms[2, row], noise[row],
            normals[row * each : (row + 1) * each],
        )  # fmt: skip


def streams(seed: int, run: int) -> Streams:
    """Return the keys of `run`, which do not depend on how many runs there are.

    Examples
    --------
    >>> import numpy as np
    >>> with np.errstate(over="ignore"):  # whole numbers wrap around, on purpose
    ...     round(float(uniform(streams(seed=1, run=0).choice, 0)), 3)
    0.744
    """
    words = np.random.SeedSequence(seed, spawn_key=(run,)).generate_state(10, np.uint64)
    return Streams(*((words[i], words[i + 1]) for i in range(0, 10, 2)))


@kernel
def word(key: np.uint64, position: int) -> np.uint64:
    """Return the 64 random bits at `position`."""
    return scrambled(key + np.uint64(position) * STEP)


@kernel
def scrambled(z: np.uint64) -> np.uint64:
    """Return the 64 random bits of a counter."""
    z = (z ^ (z >> A)) * FIRST
    z = (z ^ (z >> B)) * SECOND
    return z ^ (z >> C)


@kernel
def unit(bits: np.uint64) -> float:
    """Return a number from 0 to 1 (never 1) made of the first 52 bits."""
    return one_to_two(bits) - 1.0


@kernel
def one_to_two(bits: np.uint64) -> float:
    """Return a number from 1 to 2 (never 2) made of the first 52 bits."""
    return np.uint64((bits >> TWELVE) | ONE).view(np.float64)


@kernel
def uniform(keys: Keys, position: int) -> float:
    """Return the uniform number at `position`."""
    return unit(word(keys[0], position))


@kernel
def normal_pair(keys: Keys, pair: int) -> tuple[float, float]:
    """Return two independent standard normal numbers."""
    return normals_of(word(keys[0], pair), word(keys[1], pair))


def _direction_on_gpu(bits: np.uint64) -> tuple[float, float]:
    if is_exact():
        return sine_and_cosine(one_to_two(bits) - 1.5)
    return direction_by_quarters(bits)


@kernel_with(_direction_on_gpu)
def direction(bits: np.uint64) -> tuple[float, float]:
    """Return the sine and cosine of a turn that is made of a word: any is as likely."""
    return sine_and_cosine(one_to_two(bits) - 1.5)


@kernel
def normals_of(first: np.uint64, second: np.uint64) -> tuple[float, float]:
    """Return the two standard normal numbers that are made of two words."""
    radius = root(-2.0 * log(2.0 - one_to_two(first)))  # 1 - unit(first), in one step
    sine, cosine = direction(second)
    return radius * cosine, radius * sine


@outlined
def fill_uniforms(keys: Keys, block: int, out: Vector) -> None:
    """Fill `out` with one uniform number for each round of the block."""
    for i in range(BLOCK):
        out[i] = unit(word(keys[0], block * BLOCK + i))


@outlined
def fill_normals(keys: Keys, block: int, each: int, out: Vector) -> None:
    """Fill `out` with `each` normal numbers for each round of the block, round by round."""
    pairs = HALF * each
    # Counters that count, and halves of their own: as `normal_pair(keys, block * pairs + i)` for
    # `out[pairs + i]`, the loop multiplies more, and may not become vector code.
    start = np.uint64(block * pairs) * STEP
    radius, turn = keys[0] + start, keys[1] + start
    first, second = out[:pairs], out[pairs:]
    for i in range(pairs):
        first[i], second[i] = normals_of(scrambled(radius), scrambled(turn))
        radius, turn = radius + STEP, turn + STEP


@kernel
def normals_of_round(keys: Keys, t: int, each: int, out: Vector) -> None:
    """Fill `out` with the same numbers as `fill_normals`, for round `t` alone."""
    block, row = t // BLOCK, t % BLOCK
    for i in range(each):
        first, second = normal_pair(keys, (block * HALF + row % HALF) * each + i)
        out[i] = first if row < HALF else second
