"""The bounds against the formulas of the proofs, written out once more."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import oracles
import pytest

from fairx import Exponential, FairXLinEG, FairXLinTS, FairXLinUCB, FairXTS, simulate, theory
from fairx.datasets.features import linear_fit
from fairx.environments import (
    Labelled,
    Linear,
    LinearPrior,
    NormalPrior,
    lipschitz_pair,
    minimum_merit_pair,
)
from fairx.policies import Confidence

T, K, D, L, G, DELTA = 5000, 7, 3, 2.5, 0.5, 0.1


def test_ucb_bounds() -> None:
    inner = math.sqrt(2 * T * math.log(4 / DELTA)) + 2 * math.sqrt(T * K)
    width = math.sqrt(2 * math.log(4 * T * K / DELTA))
    assert theory.ucb_fairness_bound(T, K, L, G, DELTA) == pytest.approx(
        2 * K + 4 * L / G * width * inner
    )
    assert theory.ucb_reward_bound(T, K, DELTA) == pytest.approx(2 * K + 2 * width * inner)


def test_lin_ucb_bounds() -> None:
    radius = 1 + math.sqrt(D * math.log(1 + T / D) + 2 * math.log(math.pi**2 * T**2 / (3 * DELTA)))
    widths, extra = (
        math.sqrt(2 * T * D * math.log(1 + T / D)),
        math.sqrt(2 * T * math.log(4 / DELTA)),
    )
    found = theory.lin_ucb_fairness_bound(T, D, L, G, DELTA)
    assert found == pytest.approx(4 * L * radius / G * (widths + extra))
    assert theory.lin_ucb_reward_bound(T, D, DELTA) == pytest.approx(
        2 * radius * (widths + 2 * extra)
    )
    assert Confidence(1, DELTA).squared_radius(T, D) == pytest.approx(radius**2)


def test_ts_bounds() -> None:
    rare = 1 / (K * T)
    widths, extra = math.sqrt(2 * T * D * math.log(1 + T / D)), math.sqrt(2 * T * math.log(4 * T))
    common = (1 + math.sqrt(2 * math.log(K * T / rare))) * (widths + extra + 1)
    expected = 4 * L / G * (common + math.sqrt(K) * (math.sqrt(T * rare) + rare))
    assert theory.lin_ts_fairness_bound(T, D, K, L, G) == pytest.approx(expected)
    assert theory.ts_fairness_bound(T, K, L, G) == theory.lin_ts_fairness_bound(T, K, K, L, G)
    expected = 2 * math.sqrt(2 * math.log(K * T) * K * T) + 1 / math.sqrt(2 * math.pi)
    assert theory.ts_reward_bound(T, K) == pytest.approx(expected)


def test_lin_ts_reward_bound() -> None:
    norm, delta = math.sqrt(2 * D * math.log(T * D)), 1 / T
    tail = math.exp(-(norm**2) / (2 * D))
    spread = math.sqrt(D * math.log(1 + T / D) + 2 * math.log(T**2 * math.pi**2 / (3 * delta)))
    widths, extra = (
        math.sqrt(2 * T * D * math.log(1 + T / D)),
        math.sqrt(2 * T * math.log(4 / delta)),
    )
    expected = 2 * (norm + spread) * (widths + 2 * extra)
    expected += 4 * T * D * tail * spread + 2 * T * D * math.sqrt(2 * tail)
    expected += delta * T * (2 * D * math.sqrt(2 * tail) + 2 * norm)
    assert theory.lin_ts_reward_bound(T, D) == pytest.approx(expected)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="minimum_merit must be positive, not 0"):
        theory.ucb_fairness_bound(T, K, L, 0)
    with pytest.raises(ValueError, match="rounds must be"):
        theory.lower_bound(0)
    with pytest.raises(ValueError, match="delta must be"):
        theory.ucb_reward_bound(T, K, 0)


@pytest.mark.compiled
def test_bayesian_regret_stays_below_its_bounds() -> None:
    merit, rounds = Exponential(0.5), 1000
    gamma, slope = merit.minimum(-4, 4), merit.lipschitz(-4, 4)
    result = simulate(FairXTS(merit, 1, 1), NormalPrior(4), merit, rounds=rounds, runs=20, seed=1)
    assert result.fairness_regret[:, -1].mean() < theory.ts_fairness_bound(rounds, 4, slope, gamma)
    assert result.reward_regret[:, -1].mean() < theory.ts_reward_bound(rounds, 4)


@pytest.mark.compiled
def test_linear_regret_stays_below_its_bounds() -> None:
    rng, merit, rounds = np.random.default_rng(0), Exponential(0.5), 500
    contexts = rng.normal(size=(30, 4, 3))
    contexts /= np.linalg.norm(contexts, axis=2, keepdims=True)
    gamma, slope = merit.minimum(-1, 1), merit.lipschitz(-1, 1)
    optimist = FairXLinUCB(merit, Confidence(1.0, 0.05), 1.0)
    world = Linear(contexts, [0.5, 0.5, 0.5], 1.0)
    result = simulate(optimist, world, merit, rounds=rounds, runs=3, seed=1)
    assert result.fairness_regret.max() < theory.lin_ucb_fairness_bound(rounds, 3, slope, gamma)
    assert result.reward_regret.max() < theory.lin_ucb_reward_bound(rounds, 3)
    result = simulate(
        FairXLinTS(merit, 1, 1), LinearPrior(contexts), merit, rounds=rounds, runs=5, seed=1
    )
    assert result.fairness_regret[:, -1].mean() < theory.lin_ts_fairness_bound(
        rounds, 3, 4, slope, gamma
    )
    assert result.reward_regret[:, -1].mean() < theory.lin_ts_reward_bound(rounds, 3)


@pytest.mark.compiled
@pytest.mark.parametrize("pair", [minimum_merit_pair, lipschitz_pair])
def test_no_linear_policy_escapes_the_lower_bounds(pair: Any) -> None:
    """Section 4.1: each arm a basis vector; the worse instance of a pair, at three standard errors."""
    rounds = 100
    *instances, merit = pair(rounds)
    for policy in (
        FairXLinTS(merit, 0.3, 0.7),
        FairXLinUCB(merit, 0.1, 1.0),
        FairXLinEG(merit, 0.0, 1.0),
    ):
        regrets = [
            simulate(
                policy,
                Linear(np.eye(2)[None], parameter=one.means, noise_std=math.sqrt(0.5)),
                merit,
                rounds=rounds,
                runs=10,
                seed=1,
            ).fairness_regret[:, -1]
            for one in instances
        ]
        lowest = [found.mean() - 3 * found.std(ddof=1) / math.sqrt(10) for found in regrets]
        assert max(lowest) > theory.lower_bound(rounds)


def misspecified() -> Labelled:
    """Return few examples whose labels no linear model fits."""
    rng = np.random.default_rng(5)
    contexts = rng.random((6, 3, 2))
    labels = (contexts[:, :, 0] ** 2 > 0.3).astype(float)
    return Labelled(contexts, labels, linear_fit(contexts, labels))


def test_the_self_selected_fit_gives_itself_back() -> None:
    contexts, labels, _ = map(np.asarray, misspecified())
    found = theory.self_selected_fit(Exponential(3), contexts, labels)
    gram, sums = np.zeros((2, 2)), np.zeros(2)
    for example, paid in zip(contexts, labels, strict=True):
        shares = oracles.fair(Exponential(3), [row @ found for row in example])
        for share, row, label in zip(shares, example, paid, strict=True):
            gram += share * np.outer(row, row)
            sums += share * row * label
    np.testing.assert_allclose(found, np.linalg.inv(gram) @ sums, atol=1e-6)


@pytest.mark.compiled
def test_a_policy_that_trusts_the_model_settles_there() -> None:
    """FairX-LinEG without exploration, whose noise fades: 10,000 rounds leave a few per cent."""
    world, merit = misspecified(), Exponential(3)
    settled = theory.misspecification_regret(merit, *map(np.asarray, world))
    assert settled > 0.03
    policy = FairXLinEG(merit, epsilon=0, ridge=1)
    found = simulate(policy, world, merit, rounds=10_000, seed=1, checkpoints=2)
    late = np.diff(found.fairness_regret, axis=1) / 5_000
    np.testing.assert_allclose(late, settled, rtol=0.1)


def test_a_fit_that_does_not_settle_is_refused() -> None:
    """The first arm alone makes the second look better, which alone looks worse than the first."""
    contexts, labels = np.array([[[1.0], [2.0]]]), np.array([[0.9, -0.2]])
    with pytest.raises(ValueError, match=r"settle within 200 steps: Exponential.* too steep"):
        theory.self_selected_fit(Exponential(300), contexts, labels)


def test_examples_that_do_not_fit_together_are_refused() -> None:
    contexts, labels, parameter = map(np.asarray, misspecified())
    with pytest.raises(ValueError, match=r"labels must have shape \(6, 3\), not \(3, 6\)"):
        theory.self_selected_fit(Exponential(3), contexts, labels.T)
    with pytest.raises(ValueError, match="labels must be finite"):
        theory.self_selected_fit(Exponential(3), contexts, labels + np.nan)
    with pytest.raises(ValueError, match="parameter must have shape"):
        theory.misspecification_regret(Exponential(3), contexts, labels, parameter[:1])
    with pytest.raises(ValueError, match="merit must be"):
        theory.self_selected_fit(3, contexts, labels)  # type: ignore[arg-type]
