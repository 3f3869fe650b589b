"""States of a policy to check it on: fresh, trained on a short history, and well informed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairx.policies.telling import is_told, teller_of
from fairx.types import Indices, Vector

ARMS = 4
MEANS = np.array([0.2, 0.5, 0.5, 0.8])
Round = tuple[int, Vector, float]


def history(rounds: int = 24, seed: int = 0) -> Iterator[Round]:
    """Yield arms, contexts and rewards: each arm in turn."""
    rng = np.random.default_rng(seed)
    for t in range(rounds):
        yield t % ARMS, rng.normal(size=ARMS), float(rng.random())


def start(policy: Any) -> Any:
    """Return the state before the first round."""
    return policy.start(ARMS, ARMS)


def trained(policy: Any) -> Any:
    """Return the state after a short history."""
    state = start(policy)
    for arm, context, reward in history():
        teach(policy, state, arm, context, reward)
    return state


def informed(policy: Any) -> Any:
    """Return the state after 2,000 rewards of each arm, equal to its mean."""
    state = start(policy)
    for _ in range(2_000):
        for arm in range(ARMS):
            teach(policy, state, arm, np.eye(ARMS)[arm], float(MEANS[arm]))
    return state


def teach(policy: Any, state: Any, arm: int, context: Vector, reward: float) -> None:
    """Let a policy learn from a decision that was drawn uniformly: arms come in turn."""
    if is_told(policy):
        even = np.full(ARMS, 1 / ARMS)
        teller_of(policy).tell(policy, state, np.arange(ARMS), arm, even)
    policy.learn(state, arm, context, reward)


def probabilities(policy: Any, state: Any, seed: int = 0, arms: Indices | None = None) -> Vector:
    """Return what a policy deploys, with one row of the identity as the context of each arm."""
    arms = np.arange(ARMS) if arms is None else arms
    found = policy.probabilities(state, arms, np.eye(ARMS)[arms], np.random.default_rng(seed))
    return np.asarray(found)


def assert_same(policy: Any, what: str, left: Any, right: Any, *, exact: bool = False) -> None:
    """Raise an AssertionError that says `what` is wrong, unless two states are the same."""
    pairs = zip(_arrays(left), _arrays(right), strict=True)
    tolerance = 0.0 if exact else 1e-9
    same = all(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True) for a, b in pairs)
    assert same, f"{policy}: {what}, {left} is not {right}"


def _arrays(state: Any) -> Iterator[Any]:
    for part in state if isinstance(state, tuple) else [state]:
        yield from _arrays(part) if isinstance(part, tuple) else [part]
