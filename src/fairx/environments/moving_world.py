"""The world of one run whose means move, and the paths that they take."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx.compiled import compilable
from fairx.types import Indices, Matrix, Vector


@compilable
class Path(Protocol):
    """How means move."""

    def move(self, step: int, means: Vector) -> None:
        """Write the means after so many steps, given those before the last one."""
        ...


class MovingWorld(NamedTuple):
    """The inner form: a step is made every so many rounds, and regret is against the means of the round."""

    path: Path
    means: Vector  # in the round that was picked last
    features: Matrix
    every: int
    ends: tuple[float, float]

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest mean there can be."""
        return self.ends

    def reward_range(self) -> tuple[float, float]:
        """Return 0 and 1."""
        return 0.0, 1.0

    def pick(self, uniform: float, t: int) -> int:
        """Move the means, where it is time, and show the one example there is."""
        if t % self.every == 0:
            self.path.move(t // self.every, self.means)
        return 0

    def key(self, example: int, t: int) -> int:
        """Return the step."""
        return t // self.every

    def row(self, example: int) -> int:
        """Point at no features."""
        return 0

    def candidates(self, example: int) -> Indices:
        """Return every arm."""
        return range(len(self.means))  # type: ignore[return-value]

    def fill_means(self, example: int, out: Vector) -> None:
        """Write the means of the round."""
        for arm in range(len(out)):
            out[arm] = self.means[arm]

    def pay(self, example: int, arm: int, uniform: float, normal: float) -> float:
        """Pay 1 if the uniform number is below the arm's mean."""
        return 1.0 if uniform < self.means[arm] else 0.0


def moving(path: Any, means: Vector, every: int, low: float, high: float) -> MovingWorld:
    """Return the world of a run, before its first round."""
    path.move(0, means)
    return MovingWorld(path, means, np.empty((1, means.size, 0)), every, (low, high))
