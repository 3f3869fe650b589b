"""Arms that pay 1 or 0, with chances that move: in a cycle, at random, or by turns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.numerics.elementary import sine_and_cosine
from fairx.numerics.streams import normals_of, word
from fairx.types import Keys, Matrix, Vector

from .bernoulli import Bernoulli
from .moving_world import MovingWorld, moving


@record
class Cycle(NamedTuple):
    """Means that go up and down between `low` and `high`, one arm after the other.

    In round t arm a pays 1 with the chance middle + half sin(2 pi (t / period + a / arms)).

    Examples
    --------
    >>> from fairx import Exponential, Uniform, environments, simulate
    >>> world = environments.Cycle(arms=3, period=100)
    >>> result = simulate(Uniform(), world, Exponential(4), rounds=1000, seed=1)
    >>> result.fairness_regret[0, -1].round(1)
    np.float64(818.0)
    """

    arms: int
    period: int
    low: float = 0.1
    high: float = 0.9
    every: int = 1

    def checked(self) -> Cycle:
        """Refuse chances outside 0 to 1."""
        for name in ("arms", "period", "every"):
            rules.count(name, getattr(self, name))
        rules.number("low", self.low, low=0, high=1)
        rules.number("high", self.high, low=self.low, high=1)
        return self

    def world(self, rng: np.random.Generator | None) -> MovingWorld:
        """Return the inner form of one run."""
        path = Wave(self.period, self.low, self.high, self.every)
        return moving(path, np.empty(self.arms), self.every, self.low, self.high)


class Wave(NamedTuple):
    """A cycle."""

    period: int
    low: float
    high: float
    every: int

    def move(self, step: int, means: Vector) -> None:
        """Write the means of the round at which this step is made."""
        turn = step * self.every % self.period / self.period
        for arm in range(len(means)):
            own = turn + arm / len(means)
            sine, _ = sine_and_cosine(own - int(own) - 0.5)
            means[arm] = 0.5 * (self.low + self.high) - 0.5 * (self.high - self.low) * sine


@record
class RandomWalk(NamedTuple):
    """Means that take a normal step of deviation `step` every so many rounds, between `low` and `high`.

    Each run has a walk of its own, the same for all policies. At an end a step turns back.

    Examples
    --------
    >>> from fairx import Exponential, Uniform, environments, simulate
    >>> world = environments.RandomWalk([0.3, 0.5, 0.7], step=0.01)
    >>> result = simulate(Uniform(), world, Exponential(4), rounds=1000, runs=2, seed=1)
    >>> result.fairness_regret[:, -1].round(1)
    array([627.2, 901.2])
    """

    means: npt.ArrayLike
    step: float
    low: float = 0.0
    high: float = 1.0
    every: int = 1

    def checked(self) -> RandomWalk:
        """Refuse means outside the ends."""
        means = np.asarray(Bernoulli(self.means).means)
        rules.number("step", self.step, low=0)
        rules.number("low", self.low, low=0, high=means.min())
        rules.number("high", self.high, low=means.max(), high=1)
        rules.count("every", self.every)
        return changed(self, means=means)

    def world(self, rng: np.random.Generator | None) -> MovingWorld:
        """Return the inner form of one run, with the keys of its walk."""
        words = (rng or np.random.default_rng(0)).integers(2**64, size=2, dtype=np.uint64)
        path = Walk(self.step, self.low, self.high, (words[0], words[1]))
        means = np.array(self.means, np.float64)
        return moving(path, means, self.every, self.low, self.high)


class Walk(NamedTuple):
    """A random walk that is a function of its keys."""

    step: float
    low: float
    high: float
    keys: Keys

    def move(self, step: int, means: Vector) -> None:
        """Move each mean by a normal number, but for the first time."""
        if step > 0:
            for arm in range(len(means)):
                number = step * len(means) + arm
                normal, _ = normals_of(word(self.keys[0], number), word(self.keys[1], number))
                moved = means[arm] + self.step * normal
                moved = 2.0 * self.low - moved if moved < self.low else moved
                moved = 2.0 * self.high - moved if moved > self.high else moved
                means[arm] = min(max(moved, self.low), self.high)


@record
class Switching(NamedTuple):
    """Means that are those of one row of `means` after the other, each for so many rounds, in turns.

    Examples
    --------
    >>> from fairx import Exponential, Uniform, environments, simulate
    >>> world = environments.Switching([[0.2, 0.8], [0.8, 0.2]], every=500)
    >>> result = simulate(Uniform(), world, Exponential(4), rounds=1000, seed=1)
    >>> result.fairness_regret[0, -1].round(1)
    np.float64(833.7)
    """

    means: npt.ArrayLike
    every: int

    def checked(self) -> Switching:
        """Refuse chances outside 0 to 1."""
        means = rules.array("means", self.means, (None, None), "one row per phase")
        for phase in means:
            Bernoulli(phase)
        rules.count("every", self.every)
        return changed(self, means=means)

    def world(self, rng: np.random.Generator | None) -> MovingWorld:
        """Return the inner form of one run."""
        rows: Any = np.asarray(self.means)
        ends = float(rows.min()), float(rows.max())
        return moving(Phases(rows), rows[0].copy(), self.every, *ends)


class Phases(NamedTuple):
    """Rows in turns."""

    rows: Matrix

    def move(self, step: int, means: Vector) -> None:
        """Write the next row."""
        for arm in range(len(means)):
            means[arm] = self.rows[step % len(self.rows), arm]
