"""Arms that sleep: which are on offer changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.compiled import changed, record
from fairx.numerics.streams import unit, word
from fairx.types import Indices, Matrix, Vector

from .base import world_of


@record
class Sleeping(NamedTuple):
    """Another environment, of which one of some `pools` is on offer for so many rounds each time.

    Parameters
    ----------
    environment
        One that offers all its arms in each round.
    pools
        Lists of arms. Which comes next is drawn uniformly, in each run anew, for all policies the same.
    every
        For how many rounds it stays.

    Notes
    -----
    What is fair, and both regrets, are among the arms on offer in the round.

    Examples
    --------
    >>> from fairx import Exponential, Uniform, environments, simulate
    >>> world = environments.Bernoulli([0.2, 0.5, 0.8])
    >>> asleep = environments.Sleeping(world, pools=[[0, 1], [1, 2]], every=10)
    >>> simulate(Uniform(), asleep, Exponential(4), rounds=1000, seed=1).exposure
    array([[0.205, 0.5  , 0.295]])
    """

    environment: Any
    pools: Sequence[Sequence[int]]
    every: int = 1

    def checked(self) -> Sleeping:
        """Refuse pools of arms that there are not."""
        rules.count("every", self.every)
        arms = world_of(self.environment, np.random.default_rng(0)).features.shape[1]
        pools = tuple(tuple(pool) for pool in self.pools)
        for number, pool in enumerate(pools):
            if not pool or len(set(pool)) < len(pool) or not set(pool) <= set(range(arms)):
                rule = f"be distinct arms of 0 to {arms - 1}, at least one, not {list(pool)}"
                raise rules.InvalidValue(f"pools[{number}]", rule)
        rules.count("the number of pools", len(pools))
        return changed(self, pools=pools)

    def world(self, rng: np.random.Generator) -> SleepingWorld:
        """Return the inner form of one run, with the key of its pools."""
        key = rng.integers(2**64, dtype=np.uint64)
        inner = world_of(self.environment, rng)
        _, arms, dimension = inner.features.shape
        rows, sizes = np.zeros((len(self.pools), arms), np.int64), np.zeros(len(self.pools), int)
        for number, pool in enumerate(self.pools):
            rows[number, : len(pool)], sizes[number] = pool, len(pool)
        room = np.zeros((1, arms, dimension))
        return SleepingWorld(
            inner, rows, sizes, self.every, key, room, np.zeros(arms), np.zeros(1, np.int64)
        )


class SleepingWorld(NamedTuple):
    """The inner form of `Sleeping`: an example is one of the world within, and a pool."""

    inner: Any
    pools: Indices
    sizes: Indices
    every: int
    word_key: np.uint64
    features: Matrix  # room for one example
    means: Vector  # room for all arms
    awake: Indices  # one number: the pool

    @property
    def lends_arrays(self) -> bool:
        """Say that `candidates` returns a part of an array: compiled code must count who has it."""
        return True

    def mean_range(self) -> tuple[float, float]:
        """Return that of the world within."""
        found: tuple[float, float] = self.inner.mean_range()
        return found

    def reward_range(self) -> tuple[float, float]:
        """Return that of the world within."""
        found: tuple[float, float] = self.inner.reward_range()
        return found

    def pick(self, uniform: float, t: int) -> int:
        """Draw another pool, where it is time, and an example of the world within."""
        if t % self.every == 0:
            self.awake[0] = int(unit(word(self.word_key, t // self.every)) * len(self.sizes))
        return int(self.inner.pick(uniform, t) * len(self.sizes) + self.awake[0])

    def key(self, example: int, t: int) -> int:
        """Tell pools apart, and what the world within tells apart."""
        pools = len(self.sizes)
        return int(self.inner.key(example // pools, t) * pools + example % pools)

    def row(self, example: int) -> int:
        """Copy the contexts of the arms that are awake to where the loop looks for them."""
        found, pool = self.inner.row(example // len(self.sizes)), example % len(self.sizes)
        for position in range(self.sizes[pool]):
            for i in range(self.features.shape[2]):
                arm = self.pools[pool, position]
                self.features[0, position, i] = self.inner.features[found, arm, i]
        return 0

    def candidates(self, example: int) -> Indices:
        """Return the arms that are awake."""
        pool = example % len(self.sizes)
        return self.pools[pool, : self.sizes[pool]]

    def fill_means(self, example: int, out: Vector) -> None:
        """Write the means of those that are awake."""
        self.inner.fill_means(example // len(self.sizes), self.means)
        for position in range(len(out)):
            out[position] = self.means[self.pools[example % len(self.sizes), position]]

    def pay(self, example: int, arm: int, uniform: float, normal: float) -> float:
        """Let the world within pay."""
        return float(self.inner.pay(example // len(self.sizes), arm, uniform, normal))
