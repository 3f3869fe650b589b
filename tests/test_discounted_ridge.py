"""The ridge regression that forgets: what it keeps, and that it never degenerates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fairx import (
    Bandit,
    DiscountedRidge,
    Exponential,
    FairXLinEG,
    FairXLinTS,
    FairXLinUCB,
    FairXTS,
    LinEG,
)

MERIT, RIDGE = Exponential(4), 0.5
WITHIN: list[Any] = [
    FairXLinUCB(MERIT, beta=0.1, ridge=RIDGE),
    FairXLinTS(MERIT, prior_std=1, reward_std=RIDGE**0.5),
    FairXLinEG(MERIT, epsilon=0.1, ridge=RIDGE),
]


def taught(policy: Any, contexts: Any, rewards: Any) -> Any:
    """Return the state of the source after these rewards, without compiling it."""
    state, work = (
        policy.start(1, contexts.shape[1]),
        np.empty(policy.needs(1, contexts.shape[1])[1]),
    )
    for context, reward in zip(contexts, rewards, strict=True):
        policy.absorb(state, 0, context, reward, work)
    return state.inner


def by_sums(contexts: Any, rewards: Any, discount: float) -> tuple[Any, Any]:
    """Return precision and target but for the ridge: sums of powers of the discount."""
    powers = discount ** np.arange(len(rewards))[::-1]
    return (contexts * powers[:, None]).T @ contexts, (contexts * powers[:, None]).T @ rewards


def check_consistent(state: Any) -> None:
    """Check that the factors are those of the precision, and the estimate that of the target."""
    inverse = state.factor.T @ np.diag(state.scales) @ state.factor
    np.testing.assert_allclose(inverse @ state.precision, np.eye(len(inverse)), atol=1e-7)
    np.testing.assert_allclose(state.estimate, inverse @ state.target, atol=1e-9)


@pytest.mark.parametrize("within", WITHIN, ids=lambda policy: type(policy).__name__)
@pytest.mark.parametrize("discount", [0.98, 0.6])
def test_what_is_kept_are_sums_of_powers_and_the_ridge(within: Any, discount: float) -> None:
    rng = np.random.default_rng(1)
    contexts, rewards = rng.normal(size=(300, 5)), rng.normal(size=300)
    state = taught(DiscountedRidge(within, discount), contexts, rewards)
    precision, target = by_sums(contexts, rewards, discount)
    kept = state.precision - precision
    np.testing.assert_allclose(kept, np.diag(kept.diagonal()), atol=1e-9)
    assert (kept.diagonal() > RIDGE / 2).all()
    assert (kept.diagonal() < RIDGE * (1 + 1e-9)).all()
    np.testing.assert_allclose(state.target, target, atol=1e-9)
    check_consistent(state)
    assert state.observations[0] == 300


@pytest.mark.parametrize("discount", [0.98, 0.6])
def test_the_ridge_is_between_half_and_twice_from_the_start(discount: float) -> None:
    policy = DiscountedRidge(LinEG(0.1, RIDGE), discount)
    for number in range(1, 30):
        kept = taught(policy, np.zeros((number, 7)), np.zeros(number)).precision.diagonal()
        assert kept.min() > 0.5 * RIDGE
        assert kept.max() < 2 * RIDGE


def test_collinear_contexts_leave_it_positive_definite() -> None:
    """Plain forgetting divides the scales of all other directions by the discount, for ever."""
    rng = np.random.default_rng(2)
    contexts = np.outer(rng.normal(size=3_000), [1.0, 1.0, 1.0, 0.0])
    state = taught(DiscountedRidge(LinEG(0.1, RIDGE), 0.7), contexts, rng.normal(size=3_000))
    eigenvalues = np.linalg.eigvalsh(state.precision)
    assert RIDGE / 2 < eigenvalues.min() < RIDGE * (1 + 1e-9)
    assert state.scales.min() > 0
    assert state.scales.max() < 2 / RIDGE
    check_consistent(state)


def test_a_bandit_forgets_and_is_saved(tmp_path: Path) -> None:
    bandit = Bandit(DiscountedRidge(LinEG(0.3, 0.1), 0.8), ["a", "b"], seed=1, dimension=2)
    for best in [0] * 30 + [1] * 30:
        decision = bandit.act(contexts=np.eye(2))
        bandit.learn(decision, float(decision.arm == "ab"[best]))
    assert bandit.state.inner.estimate.argmax() == 1
    bandit.save(tmp_path / "kept.npz")
    again = Bandit.load(tmp_path / "kept.npz")
    assert np.array_equal(again.state.inner.factor, bandit.state.inner.factor)
    assert np.array_equal(again.state.plan, bandit.state.plan)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="policy must learn by a ridge regression"):
        DiscountedRidge(FairXTS(MERIT, 1, 1), 0.9)
    with pytest.raises(ValueError, match="discount must be below 1"):
        DiscountedRidge(LinEG(0.1, 1), 1.0)
