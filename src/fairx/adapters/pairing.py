"""A bandit among those who tell arms and rewards apart, and know of no decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairx.bandit import Bandit, Decision
from fairx.features import Features
from fairx.policies import Policy


class Pairing:
    """A bandit whose next reward of an arm is that of the last decision for it."""

    def __init__(
        self, policy: Policy[Any], arms: Sequence[Any], seed: int, features: Features | None
    ) -> None:
        self.bandit = Bandit(policy, arms, seed=seed, features=features)
        self.last: Decision | None = None
        self._waiting: dict[Any, int] = {}

    def pull(self, arms: Sequence[Any], context: Any) -> Decision:
        """Decide among arms; a decision for the same arm that has no reward yet teaches nothing."""
        given = None if self.bandit.features is None else {"visit": visit_of(context)}
        decision = self.bandit.act(given, candidates=list(arms))
        if decision.arm in self._waiting:
            self.bandit.forget(self._waiting[decision.arm])
        self._waiting[decision.arm], self.last = decision.id, decision
        return decision

    def reward(self, arm: Any, reward: float) -> None:
        """Learn the reward of the last decision for an arm."""
        if arm not in self._waiting:
            raise ValueError(f"arm {arm!r} was not pulled since its last reward: pull it first")
        self.bandit.learn(self._waiting.pop(arm), reward)


def visit_of(context: Any) -> Mapping[str, Any]:
    """Return what is known of a visit: by name, or by position, from "0" on.

    Examples
    --------
    >>> visit_of({"hour": 3}), visit_of((0.5, "phone")), visit_of(None)
    ({'hour': 3}, {'0': 0.5, '1': 'phone'}, {})
    """
    if context is None or isinstance(context, Mapping):
        return context or {}
    values = context if hasattr(context, "__len__") and not isinstance(context, str) else [context]
    return {str(position): value for position, value in enumerate(values)}
