"""Our policies where river expects one of its bandits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from river import bandit, stats

from fairx.features import Features
from fairx.policies import Policy

from .pairing import Pairing


class RiverPolicy(bandit.base.Policy):  # type: ignore[misc] # river asks for the type
    """A policy without contexts, for river's `evaluate`, `evaluate_offline` and loops of yours.

    `propensity` is the exact probability of the last arm that was pulled. Each arm is rewarded after it
    was pulled: an `update` of another one is refused. river's `burn_in` and `reward_scaler` are not used.

    Examples
    --------
    >>> from fairx import Exponential, FairXTS
    >>> from fairx.adapters.for_river import RiverPolicy
    >>> policy = RiverPolicy(FairXTS(Exponential(4), 1, 0.5), arms=["a", "b"], seed=1)
    >>> arm = policy.pull(["a", "b"])
    >>> arm, round(policy.propensity, 3)
    ('a', 0.998)
    >>> policy.update(arm, 1.0)
    """

    def __init__(
        self, policy: Policy[Any], arms: Sequence[Any], seed: int, reward_obj: Any = None
    ) -> None:
        super().__init__(reward_obj=reward_obj or stats.Mean())
        self.policy, self.arms, self.seed = policy, arms, seed
        self._pairing = Pairing(policy, arms, seed, None)

    @property
    def propensity(self) -> float:
        """How likely the last arm was."""
        return _propensity(self._pairing)

    def _pull(self, arm_ids: Sequence[Any]) -> Any:
        return self._pairing.pull(arm_ids, None).arm

    def update(self, arm_id: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Take in the reward of an arm."""
        self._pairing.reward(arm_id, float(reward_args[0]))
        super().update(arm_id, *reward_args, **reward_kwargs)


class RiverContextualPolicy(bandit.base.ContextualPolicy):  # type: ignore[misc] # as above
    """A policy with contexts, which are those of a visit by name: see `Features`.

    Examples
    --------
    >>> from fairx import Exponential, FairXLogisticTS
    >>> from fairx.adapters.for_river import RiverContextualPolicy
    >>> from fairx.features import Category, Features, Number
    >>> features = Features({"hour": Number(12, 6)}, {"arm": Category([0, 1])}, [("hour", "arm")])
    >>> inner = FairXLogisticTS(Exponential(4), prior_std=1)
    >>> policy = RiverContextualPolicy(inner, arms=[0, 1], seed=1, features=features)
    >>> arm = policy.pull([0, 1], context={"hour": 20})
    >>> policy.update(arm, {"hour": 20}, 1.0)
    """

    def __init__(
        self, policy: Policy[Any], arms: Sequence[Any], seed: int, features: Features,
        reward_obj: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(reward_obj=reward_obj or stats.Mean())
        self.policy, self.arms, self.seed, self.features = policy, arms, seed, features
        self._pairing = Pairing(policy, arms, seed, features)

    @property
    def propensity(self) -> float:
        """How likely the last arm was."""
        return _propensity(self._pairing)

    def _pull(self, arm_ids: Sequence[Any], context: Any) -> Any:
        return self._pairing.pull(arm_ids, context).arm

    def update(self, arm_id: Any, context: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Take in the reward of an arm, in the context that it was pulled in."""
        self._pairing.reward(arm_id, float(reward_args[0]))
        super().update(arm_id, context, *reward_args, **reward_kwargs)


def _propensity(pairing: Pairing) -> float:
    if pairing.last is None:
        raise ValueError("propensity must be asked for after a pull: no arm was pulled so far")
    return pairing.last.probability
