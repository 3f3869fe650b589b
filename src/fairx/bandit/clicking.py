"""Learning from places that are looked at with some chance, one click at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.compiled import direct
from fairx.policies.base import least_arms
from fairx.policies.clicks import learn_once, learner_of, no_clicks
from fairx.types import Vector


class Clicking:
    """What was clicked of each arm, and how a policy learns from it: as in `simulate`."""

    def __init__(
        self, policy: Any, arms: int, dimension: int, reward_range: tuple[float, float]
    ) -> None:
        self._policy, self._dimension, self._range = policy, dimension, reward_range
        self._arms, self._clicks = arms, no_clicks(arms, dimension)
        self._work = np.empty(policy.needs(arms, dimension)[1])
        self._run: Any = None

    def learn(self, state: Any, arm: int, context: Vector, click: float, chance: float) -> None:
        """Take in a click; a place that is never looked at teaches nothing."""
        if chance == 0.0:
            return
        if self._run is None:
            self._compile(state)
        rest = (arm, context, click, chance, self._clicks, self._work)
        self._run(*self._lowered, state, *rest)

    def parts(self) -> dict[str, npt.NDArray[Any]]:
        """Return what was clicked, by name, as it is saved."""
        found = self._clicks._asdict()
        return {f"clicks_{name}": part for name, part in found.items() if name != "scaled"}

    def grown(self) -> Clicking:
        """Return the same with room for one more arm, and nothing clicked yet."""
        return Clicking(self._policy, self._arms + 1, self._dimension, self._range)

    def _compile(self, state: Any) -> None:
        """Compile the step for this policy, on a state of its own."""
        learner = learner_of(self._policy, state, *self._range)
        if not hasattr(self._policy, "start"):  # a policy of others, as it is
            self._lowered, self._run = (learner, self._policy), learn_once.interpreted
            return
        arms = least_arms(self._policy)
        blank, clicks = self._policy.start(arms, self._dimension), no_clicks(arms, self._dimension)
        rest = (0, np.zeros(self._dimension), 0.0, 1.0, clicks, self._work)
        run, low = learn_once.ready(
            (learner, self._policy, blank), lambda run, low: run(*low, *rest)
        )
        self._lowered, self._run = low[:2], direct(run, (*low, *rest))
