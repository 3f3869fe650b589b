"""Where rewards come from, and what the judge (never the policy) may know."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fairx.compiled import compilable
from fairx.types import Indices, Matrix, Vector


@compilable
class Environment(Protocol):
    """The public door. A record with these five methods is an environment, anybody's.

    Each round shows one example, which gives every arm on offer a context and a mean reward.
    """

    def draw(self, rng: np.random.Generator) -> int:
        """Return the example that this round shows."""
        ...

    def arms_of(self, example: int) -> Indices:
        """Return the arms on offer."""
        ...

    def contexts_of(self, example: int) -> Matrix:
        """Return one row per arm on offer; of width 0 when there are no features."""
        ...

    def means_of(self, example: int) -> Vector:
        """Return the true mean reward of each arm on offer: for the judge only."""
        ...

    def reward_of(self, example: int, arm: int, rng: np.random.Generator) -> float:
        """Return a reward of `arm`."""
        ...


class Prior(Protocol):
    """An environment that is drawn anew for each run: its mean regret is Bayesian."""

    def world(self, rng: np.random.Generator) -> Any:
        """Return the inner form of one draw."""
        ...


@compilable
class World(Protocol):
    """The inner form of an environment for one run: no allocation and no generators.

    It is what the compiled loop plays in. It has a field `features` of shape
    (examples, arms, dimension), of which `row` tells the row that an example shows.
    """

    def pick(self, uniform: float) -> int:
        """Return an example, given a uniform number."""
        ...

    def row(self, example: int) -> int:
        """Return where in `features` the example's contexts are."""
        ...

    def candidates(self, example: int) -> Indices:
        """Return the arms on offer."""
        ...

    def fill_means(self, example: int, out: Vector) -> None:
        """Write the true mean reward of each arm on offer."""
        ...

    def pay(self, example: int, arm: int, uniform: float, normal: float) -> float:
        """Return a reward, given a uniform and a normal number."""
        ...


def world_of(environment: Any, rng: np.random.Generator) -> Any:
    """Return the inner form of `environment` for one run, ours or anybody's."""
    if isinstance(environment, type):
        name = environment.__name__
        raise TypeError(f"environment must be one, not the class {name}: write {name}(...)")
    if hasattr(environment, "world"):
        return environment.world(rng)
    from .foreign import wrapped

    return wrapped(environment, rng)


def draw(environment: Any, rng: np.random.Generator) -> int:
    """Return the example that this round shows (one uniform number)."""
    return int(environment.world(rng).pick(rng.random()))


def arms_of(environment: Any, example: int) -> Indices:
    """Return the arms on offer."""
    return np.array(environment.world(None).candidates(example))


def contexts_of(environment: Any, example: int) -> Matrix:
    """Return one row per arm on offer; of width 0 when there are no features."""
    world = environment.world(None)
    contexts: Matrix = world.features[world.row(example)]
    return contexts


def means_of(environment: Any, example: int) -> Vector:
    """Return the true mean reward of each arm on offer: for the judge only."""
    world = environment.world(None)
    out = np.empty(len(world.candidates(example)))
    world.fill_means(example, out)
    return out


def reward_of(environment: Any, example: int, arm: int, rng: np.random.Generator) -> float:
    """Return a reward of `arm` (one uniform and one normal number)."""
    return float(environment.world(None).pay(example, arm, rng.random(), rng.standard_normal()))
