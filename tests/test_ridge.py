"""The regression against a batch solve."""

from __future__ import annotations

from typing import Any

import numpy as np
import oracles
import pytest

from fairx import Exponential, FairXLinTS, LinEG
from fairx.environments import Linear
from fairx.simulation import simulate


def history(rounds: int, dimension: int, spread: float, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    contexts = rng.normal(size=dimension) + spread * rng.normal(size=(rounds, dimension))
    return contexts, contexts @ rng.normal(size=dimension) + 0.1 * rng.normal(size=rounds)


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("ridge", [0.01, 1.0, 100.0])
def test_the_regression_equals_a_batch_solve(spread: float, ridge: float) -> None:
    contexts, rewards = history(300, 6, spread)
    policy = LinEG(0.0, ridge)
    state = policy.start(1, 6)
    for context, reward in zip(contexts, rewards, strict=True):
        policy.learn(state, 0, context, float(reward))
    precision, estimate = oracles.ridge(contexts, rewards, ridge)
    np.testing.assert_allclose(state.precision, precision, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        state.estimate, estimate, rtol=1e-6, atol=1e-6 * np.abs(estimate).max()
    )
    inverse = state.factor.T @ np.diag(state.scales) @ state.factor
    np.testing.assert_allclose(inverse @ precision, np.eye(6), atol=1e-6)
    assert (state.scales > 0).all()


def collinear(rounds: int) -> None:
    """Play nearly collinear contexts in the compiled loop and compare with a batch solve."""
    rng = np.random.default_rng(0)
    pool = rng.normal(size=10) + 1e-4 * rng.normal(size=(500, 1, 10))
    pool /= np.linalg.norm(pool, axis=2, keepdims=True)
    policy = LinEG(0.0, 1.0)
    from fairx.numerics.streams import streams, uniform
    from fairx.policies.telling import Nobody
    from fairx.simulation.arrivals import AtOnce
    from fairx.simulation.loop import play_rounds
    from fairx.simulation.measures import NoMeasure
    from fairx.simulation.tally import new_tally

    world = Linear(pool, np.ones(10), 0.5).world(None)
    state = policy.start(1, 10)
    tally = new_tally(np.array([rounds]), 1, *policy.needs(1, 10))
    keys, merit = streams(1, 0), Exponential(1)
    records = policy, state, world, merit, NoMeasure(), Nobody(), AtOnce()
    run, _ = play_rounds.ready(records, lambda run, low: run(*low, keys, tally, 0, 0))
    run(*records, keys, tally, 0, rounds)
    precision, estimate = state.precision, np.linalg.solve(state.precision, state.target)
    assert np.linalg.eigvalsh(precision).min() > 0
    assert (state.scales > 0).all()
    np.testing.assert_allclose(
        state.estimate, estimate, rtol=1e-6, atol=1e-6 * np.abs(estimate).max()
    )
    with np.errstate(over="ignore"):
        shown = [int(uniform(keys.example, t) * 500) for t in range(min(rounds, 2000))]
    counts = np.bincount(shown, minlength=500)
    if rounds <= 2000:  # the sums are those of the contexts shown
        expected = np.eye(10) + np.einsum(
            "n,ni,nj->ij", counts.astype(float), pool[:, 0], pool[:, 0]
        )
        np.testing.assert_allclose(precision, expected, rtol=1e-10)


def test_nearly_collinear_contexts() -> None:
    collinear(2_000)


@pytest.mark.slow
def test_two_million_nearly_collinear_contexts() -> None:
    collinear(2_000_000)


def test_draws_have_the_moments_of_the_posterior() -> None:
    """Mean and covariance of 4,000 draws, within 6 standard errors of the posterior's."""
    contexts, rewards = history(40, 3, 1.0)
    policy = FairXLinTS(Exponential(1), prior_std=2, reward_std=0.5)
    state = policy.start(1, 3)
    for context, reward in zip(contexts, rewards, strict=True):
        policy.learn(state, 0, context, float(reward))
    precision, estimate = oracles.ridge(contexts, rewards, (0.5 / 2) ** 2)
    covariance = 0.25 * np.linalg.inv(precision)
    rng, draws, work = np.random.default_rng(0), np.empty((4000, 3)), np.empty(6)
    from fairx.policies.fair_lin_ts import predict_draw

    for row in draws:
        predict_draw(state, np.eye(3), rng.standard_normal(3), 0.5, work, row)
    error = np.sqrt(np.diag(covariance) / 4000)
    assert (np.abs(draws.mean(axis=0) - estimate) < 6 * error).all()
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert (np.abs(np.cov(draws.T) - covariance) < 6 * scale * np.sqrt(2 / 4000)).all()


@pytest.mark.compiled
def test_linear_regret_shrinks_when_the_model_is_right() -> None:
    rng = np.random.default_rng(0)
    contexts = rng.normal(size=(50, 5, 4))
    contexts /= np.linalg.norm(contexts, axis=2, keepdims=True)
    merit = Exponential(3)
    world = Linear(contexts, [0.5, -0.2, 0.3, 0.6], 0.1)
    result = simulate(
        FairXLinTS(merit, 1, 0.1), world, merit, rounds=3000, seed=1, checkpoints=[300]
    )
    early, all_rounds = result.fairness_regret[0]
    assert (all_rounds - early) / 2700 < 0.5 * early / 300
