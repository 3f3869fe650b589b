"""Our policies where coba expects a learner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coba.primitives import Learner

from fairx.bandit import Bandit
from fairx.features import Features
from fairx.policies import Policy

from .pairing import visit_of


class CobaLearner(Learner):  # type: ignore[misc] # coba asks for the type
    """A policy as a learner: exact probabilities, and each reward with the decision that it is of.

    `arms` are coba's actions, in any order; each interaction may offer some of them. Contexts need
    `features`: coba's sparse contexts are visits by name, and of dense ones the names are "0", "1", ...
    Actions that are lists of numbers count as tuples. `score`, which coba asks for off-policy learning,
    is not offered: a policy that draws has a new probability each time.

    Examples
    --------
    >>> from fairx import Exponential, FairXTS
    >>> from fairx.adapters.for_coba import CobaLearner
    >>> learner = CobaLearner(FairXTS(Exponential(4), 1, 0.5), arms=["a", "b"], seed=1)
    >>> action, probability, about = learner.predict(None, ["a", "b"])
    >>> learner.learn(None, action, 1.0, probability, **about)
    >>> learner.params["kind"], round(probability, 3), about
    ('FairXTS', 0.998, {'decision': 0})
    """

    def __init__(
        self, policy: Policy[Any], arms: Sequence[Any], seed: int, features: Features | None = None
    ) -> None:
        self._given = policy, [_name(arm) for arm in arms], seed, features
        self._bandit: Bandit | None = None

    @property
    def params(self) -> dict[str, Any]:
        """What coba's tables say of the learner."""
        policy, _, seed, _ = self._given
        return {
            "family": "fairx",
            "kind": type(policy).__name__,
            "policy": str(policy),
            "seed": seed,
        }

    def predict(self, context: Any, actions: Sequence[Any]) -> tuple[Any, float, dict[str, int]]:
        """Return an action, its probability, and the decision's number."""
        by_name = {_name(action): action for action in actions}
        bandit = self._started()
        given = None if bandit.features is None else {"visit": visit_of(context)}
        decision = bandit.act(given, candidates=list(by_name))
        return by_name[decision.arm], decision.probability, {"decision": decision.id}

    def learn(
        self, context: Any, action: Any, reward: float, probability: float, decision: int
    ) -> None:
        """Take in the reward of a decision."""
        self._started().learn(decision, float(reward))

    def _started(self) -> Bandit:
        """Begin where it is used: coba sends learners to other processes."""
        if self._bandit is None:
            policy, arms, seed, features = self._given
            self._bandit = Bandit(policy, arms, seed=seed, features=features)
        return self._bandit


def _name(action: Any) -> Any:
    return tuple(action) if isinstance(action, list) else action
