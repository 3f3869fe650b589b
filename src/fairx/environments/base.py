"""Where rewards come from, and what the judge (never the policy) may know."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from fairx.compiled import compilable, is_overridden
from fairx.types import Indices, Matrix, Vector

# The public methods: in a record of ours each is a door to its inner form.
DOORS = dict.fromkeys(("draw", "arms_of", "contexts_of", "means_of", "reward_of"), "world")


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


@compilable
class MovingEnvironment(Protocol):
    """An environment with a state in each run: it has these two, and the other four of above.

    All that can change goes into the state, and all that a round shows into its example: a number,
    an array, a record, or the state itself.
    """

    def start(self, rng: np.random.Generator) -> Any:
        """Return the state of a run before its first round: a new one each time."""
        ...

    def draw(self, state: Any, t: int, rng: np.random.Generator) -> Any:
        """Move the state on to a round, counted from 0; return the example that it shows."""
        ...


FAR = 8.0  # standard deviations: a normal number lies farther once in 1e15


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

    def pick(self, uniform: float, t: int) -> int:
        """Return the example of a round, given a uniform number."""
        ...

    def key(self, example: int, t: int) -> int:
        """Return what tells this round's means from those of the last: the example, where they stay."""
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


def is_moving(environment: Any) -> bool:
    """Tell whether an environment has a state in each run."""
    return callable(getattr(environment, "start", None))


def world_of(environment: Any, rng: np.random.Generator) -> Any:
    """Return the inner form of `environment` for one run, ours or anybody's."""
    if isinstance(environment, type):
        name = environment.__name__
        raise TypeError(f"environment must be one, not the class {name}: write {name}(...)")
    if hasattr(environment, "world") and not is_overridden(environment, DOORS):
        return environment.world(rng)
    from .foreign import wrapped

    return wrapped(environment, rng)


def draw(environment: Any, rng: np.random.Generator) -> int:
    """Return the example that this round shows (one uniform number)."""
    return int(environment.world(rng).pick(rng.random(), 0))


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
