"""Any environment of ours as one of Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from fairx import rules
from fairx.environments.base import world_of
from fairx.environments.late import delays_of
from fairx.types import Vector


class GymnasiumEnvironment(gymnasium.Env):  # type: ignore[misc] # it is asked for by its type
    """Rounds of an environment, an arm an action.

    An observation has one row per arm: its context, 0 where it is not on offer; without contexts, one
    number per arm, 1 where it is on offer. `info` has the `action_mask` of arms on offer and their true
    `means` (nan for the others), which no policy may look at. An episode ends after `rounds`, truncated;
    a reset plays another one, whose parameters, where they are drawn, are new. Rewards that come late
    are refused: Gymnasium has no room for them.

    Examples
    --------
    >>> from fairx.adapters.for_gymnasium import GymnasiumEnvironment
    >>> from fairx.environments import Bernoulli
    >>> environment = GymnasiumEnvironment(Bernoulli([0.1, 0.9]), rounds=100)
    >>> observation, info = environment.reset(seed=1)
    >>> observation, info["means"]
    (array([1., 1.]), array([0.1, 0.9]))
    >>> [environment.step(1)[1] for _ in range(4)]
    [0.0, 1.0, 1.0, 1.0]
    """

    def __init__(self, environment: Any, rounds: int) -> None:
        if delays_of(environment) is not None:
            rule = "pay at once, not late: Gymnasium has one reward for each step"
            raise rules.InvalidValue("environment", rule)
        self.environment, self.rounds = environment, rules.count("rounds", rounds)
        world = world_of(environment, np.random.default_rng(0))
        arms, dimension = world.features.shape[1:]
        shape, far = ((arms, dimension), np.inf) if dimension else ((arms,), 1.0)
        low = -far if dimension else 0.0
        self.observation_space = gymnasium.spaces.Box(low, far, shape, np.float64)
        self.action_space = gymnasium.spaces.Discrete(arms)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Vector, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self._world, self._t = world_of(self.environment, self.np_random), -1
        return self._next()

    def step(self, action: int) -> tuple[Vector, float, bool, bool, dict[str, Any]]:
        """Play an arm."""
        arm = int(action)
        if arm not in self._arms:
            rule = f"be an arm on offer, one of {self._arms.tolist()}, not {action!r}"
            raise rules.InvalidValue("action", rule)
        numbers = self.np_random.random(), self.np_random.standard_normal()
        reward = float(self._world.pay(self._example, arm, *numbers))
        observation, info = self._next()
        return observation, reward, False, self._t >= self.rounds, info

    def _next(self) -> tuple[Vector, dict[str, Any]]:
        """Draw the next round, and return what is seen of it."""
        self._t += 1
        world = self._world
        with np.errstate(over="ignore"):  # counters of random numbers wrap around, on purpose
            self._example = world.pick(self.np_random.random(), self._t)
        self._arms = arms = np.array(world.candidates(self._example))
        found = np.empty(len(arms))
        world.fill_means(self._example, found)
        means = np.full(world.features.shape[1], np.nan)
        means[arms] = found
        seen = np.zeros(self.observation_space.shape)
        seen[arms] = world.features[world.row(self._example)][: len(arms)] if seen.ndim > 1 else 1.0
        return seen, {"action_mask": (~np.isnan(means)).astype(np.int8), "means": means}
