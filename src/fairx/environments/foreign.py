"""Environments of others: the public door, made to fit the loop that calls the inner form."""

from __future__ import annotations

import inspect
import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx.compiled import compilable, own_copy
from fairx.numerics.streams import BLOCK
from fairx.types import Indices, Matrix, Vector

from .base import DOORS, is_moving


@compilable
class Shows(Protocol):
    """Draws the examples of one run."""

    def shown(self, t: int, rng: np.random.Generator) -> Any:
        """Return the example of a round."""
        ...


class Still(NamedTuple):
    """An environment without a state."""

    environment: Any

    def shown(self, t: int, rng: np.random.Generator) -> Any:
        """Draw."""
        return self.environment.draw(rng)


class Moving(NamedTuple):
    """An environment, and its state in this run."""

    environment: Any
    state: Any

    def shown(self, t: int, rng: np.random.Generator) -> Any:
        """Move the state on, and draw."""
        return self.environment.draw(self.state, t, rng)


class ForeignWorld(NamedTuple):
    """An environment with the public methods alone, as the loop wants it."""

    environment: Any
    shows: Shows
    rng: np.random.Generator
    features: Matrix  # room for one example
    arms: (
        Indices  # room for those on offer, which stay though paying a reward may change the example
    )
    seen: Vector  # the lowest and the highest mean so far

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest mean so far; before the first, play some rounds to see."""
        if self.seen[0] > self.seen[1]:
            look_ahead(self)
        return float(self.seen[0]), float(self.seen[1])

    def reward_range(self) -> tuple[float, float]:
        """Return the range of the means: what is paid is not known before."""
        return self.mean_range()

    def pick(self, uniform: float, t: int) -> Any:
        """Let the environment draw from its own generator."""
        return self.shows.shown(t, self.rng)

    def key(self, example: Any, t: int) -> int:
        """Return the round: an environment that keeps state in itself may move its means."""
        return t

    def row(self, example: Any) -> int:
        """Copy the contexts to where the loop looks for them."""
        contexts = self.environment.contexts_of(example)
        rows, width = contexts.shape
        if rows > self.features.shape[1] or width != self.features.shape[2]:
            raise ValueError("contexts must be (arms on offer, dimension): size() says how many")
        for position in range(rows):
            for i in range(width):
                self.features[0, position, i] = contexts[position, i]
        return 0

    def candidates(self, example: Any) -> Indices:
        """Copy the arms on offer; refuse those that there is no room for."""
        arms, most = self.environment.arms_of(example), len(self.arms)
        fit = 0 < len(arms) <= most
        for position in range(min(len(arms), most)):
            fit = fit and 0 <= arms[position] < most
            self.arms[position] = arms[position]
        if not fit:
            raise ValueError("arms on offer must be some of 0 to arms - 1: size() says how many")
        return self.arms[: len(arms)]

    def fill_means(self, example: Any, out: Vector) -> None:
        """Copy the means; refuse those that no policy can be judged by."""
        means = self.environment.means_of(example)
        if len(means) != len(out):
            raise ValueError("means must be as many as arms on offer")
        low, high = self.seen[0], self.seen[1]
        for position in range(len(out)):
            mean = float(means[position])
            if not math.isfinite(mean):
                raise ValueError("means must be finite, but this environment's are not")
            low, high = min(low, mean), max(high, mean)
            out[position] = mean
        self.seen[0], self.seen[1] = low, high

    def pay(self, example: Any, arm: int, uniform: float, normal: float) -> float:
        """Let the environment pay; refuse what no policy could learn from."""
        reward = self.environment.reward_of(example, arm, self.rng)
        if not math.isfinite(reward):
            raise ValueError("rewards must be finite, but this environment's are not")
        return reward  # type: ignore[no-any-return]


@np.errstate(all="ignore")
def look_ahead(world: Any) -> None:
    """Draw the examples of the first rounds, in a world that is for nothing else."""
    room = np.empty(world.features.shape[1])
    for t in range(BLOCK):
        example = world.pick(0.0, t)
        world.fill_means(example, room[: len(world.candidates(example))])


def wrapped(environment: Any, rng: np.random.Generator) -> ForeignWorld:
    """Return the inner form of an environment of others, if it has the methods, with its own state.

    The number of arms is that of `size()`, where the environment has it, or else of the first
    example.
    """
    _check_doors(environment)
    own = own_copy(environment)
    shows = Moving(own, own.start(rng)) if is_moving(own) else Still(own)
    shape = own.size() if hasattr(own, "size") else _first_shape(shows, rng)
    room, seen = np.empty(shape[0], np.int64), np.array([math.inf, -math.inf])
    return ForeignWorld(own, shows, rng, np.zeros((1, *shape)), room, seen)


def _first_shape(shows: Any, rng: np.random.Generator) -> Any:
    """Return the shape of the contexts of the first example; leave the run as it is."""
    if not is_moving(shows.environment):
        return shows.environment.contexts_of(0).shape
    shows, rng = own_copy((shows, rng))
    return shows.environment.contexts_of(shows.shown(0, rng)).shape


def _check_doors(environment: Any) -> None:
    """Refuse what lacks a method, or draws without the state that it has."""
    for door in DOORS:
        if not callable(getattr(environment, door, None)):
            message = f"environment must have {', '.join(DOORS)}, but {environment!r} has no {door}"
            raise TypeError(message)
    takes = ("state", "t", "rng") if is_moving(environment) else ("rng",)
    try:
        inspect.signature(environment.draw).bind(*takes)
    except TypeError:
        found, words = inspect.signature(environment.draw), ", ".join(takes)
        rule = f"draw must take ({words}), not {found}: state and t, the round, where there is start(rng)"
        raise TypeError(f"{rule}, in {environment!r}") from None
