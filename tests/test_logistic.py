"""Logistic policies: one reward against an integral, all of them against the exact posterior."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import oracles
import pytest
from cases import CHECKS, LOGISTIC, contexts, name
from scipy import integrate, optimize

from fairx import Bandit, Confidence, Exponential, FairXLogisticTS, FairXLogisticUCB, simulate
from fairx.checks import check_environment
from fairx.compiled import interpreted
from fairx.environments import Linear, LogisticLinear, LogisticPrior
from fairx.policies.logistic import tilted

MERIT = Exponential(4)


def log_likelihood(z: Any, reward: Any) -> Any:
    return reward * z - np.logaddexp(0, z)


def moments(centre: float, variance: float, reward: float) -> tuple[float, float]:
    """Return the mean and variance of N(centre, variance) times the likelihood, by SciPy."""

    def log_density(z: Any) -> Any:
        return log_likelihood(z, reward) - (z - centre) ** 2 / (2 * variance)

    reach = 12 * np.sqrt(variance)
    ends = centre + variance * (reward - 1), centre + variance * reward
    top = optimize.minimize_scalar(lambda z: -log_density(z), bounds=ends).x

    def integral(power: int, about: float) -> float:
        def density(z: float) -> float:
            return float((z - about) ** power * np.exp(log_density(z) - log_density(top)))

        parts = [(top - reach, top), (top, top + reach)]
        found = [integrate.quad(density, *part, epsrel=1e-12, limit=200)[0] for part in parts]
        return float(sum(found))

    total = integral(0, 0.0)
    mean = top + integral(1, top) / total
    return mean, integral(2, mean) / total


@pytest.mark.parametrize("centre", [-20.0, -3.0, 0.0, 0.5, 8.0])
@pytest.mark.parametrize("variance", [1e-4, 0.1, 1.0, 9.0, 100.0])
def test_one_reward_is_taken_in_as_by_integrals(centre: float, variance: float) -> None:
    for reward in (0.0, 0.25, 1.0):
        surprise, weight = tilted(centre, variance, reward)
        mean, left = moments(centre, variance, reward)
        assert centre + variance * surprise == pytest.approx(mean, abs=1e-8 * np.sqrt(variance))
        assert 1 / (1 / variance + weight) == pytest.approx(left, rel=1e-6)


@pytest.mark.parametrize("centre", [-1e6, 0.0, 1e300])
@pytest.mark.parametrize("variance", [1e-300, 1e-20, 1e12, 1e250])
@pytest.mark.parametrize("reward", [0.0, 0.5, 1.0])
def test_no_reward_breaks_a_posterior(centre: float, variance: float, reward: float) -> None:
    surprise, weight = tilted(centre, variance, reward)
    assert abs(surprise) <= 1.0
    assert 0.0 < weight < np.inf


def history(rounds: int, scale: float, seed: int = 1) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth, rows = rng.normal(size=2), scale * rng.normal(size=(rounds, 2))
    rewards = (rng.random(rounds) < 1 / (1 + np.exp(-rows @ truth))).astype(float)
    return rows, rewards, truth


def learned(policy: Any, rows: Any, rewards: Any) -> Any:
    state = policy.start(1, rows.shape[1])
    for row, reward in zip(rows, rewards.tolist(), strict=True):
        policy.learn(state, 0, row, reward)
    return state


def filtered(rows: Any, rewards: Any, penalty: float) -> tuple[Any, Any]:
    """Return mean and covariance after all rewards, one by one, by dense algebra and integrals."""
    mean, covariance = np.zeros(rows.shape[1]), np.eye(rows.shape[1]) / penalty
    for row, reward in zip(rows, rewards.tolist(), strict=True):
        turned = covariance @ row
        centre, variance = row @ mean, row @ turned
        new, left = moments(centre, variance, reward)
        mean = mean + turned * (new - centre) / variance
        covariance = covariance - np.outer(turned, turned) * (1 - left / variance) / variance
    return mean, covariance


def test_the_state_is_that_of_the_whole_history() -> None:
    rows, rewards, _ = history(40, 2.0)
    policy = FairXLogisticTS(MERIT, prior_std=2)
    state = learned(policy, rows, rewards)
    mean, covariance = filtered(rows, rewards, 0.25)
    np.testing.assert_allclose(state.estimate, mean, atol=1e-7)
    np.testing.assert_allclose(np.linalg.inv(state.precision), covariance, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.solve(state.precision, state.target), mean, atol=1e-7)
    inverse = state.factor.T @ np.diag(state.scales) @ state.factor
    np.testing.assert_allclose(inverse, covariance, rtol=1e-6)
    root = np.linalg.cholesky(covariance[::-1, ::-1])[::-1, ::-1]
    rng, seen = np.random.default_rng(3), np.eye(2)
    draw = mean + root @ np.random.default_rng(3).standard_normal(2)
    expected = oracles.fair(MERIT, 1 / (1 + np.exp(-draw)))
    found = policy.probabilities(state, np.arange(2), seen, rng)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_posterior_is_near_the_exact_one(scale: float) -> None:
    """The mean within 0.4 deviations, and deviations within a tenth, by a grid of 301 x 301."""
    rows, rewards, _ = history(150, scale)
    state = learned(FairXLogisticTS(MERIT, prior_std=1), rows, rewards)
    axis = np.linspace(-5, 5, 301)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    log_posterior = log_likelihood(grid @ rows.T, rewards).sum(axis=1) - (grid**2).sum(axis=1) / 2
    weights = np.exp(log_posterior - log_posterior.max())
    weights /= weights.sum()
    mean = weights @ grid
    deviations = np.sqrt(weights @ (grid - mean) ** 2)
    assert (np.abs(state.estimate - mean) < 0.4 * deviations).all()
    found = np.sqrt(np.diag(np.linalg.inv(state.precision)))
    np.testing.assert_allclose(found, deviations, rtol=0.1)


def test_with_many_rewards_it_is_newtons_solution() -> None:
    """Of the whole data: after 3,000 rewards all agree, within a fifth of a deviation and 5 %."""
    rows, rewards, _ = history(3000, 1.0)
    state = learned(FairXLogisticUCB(MERIT, beta=1, ridge=1), rows, rewards)
    parameter = np.zeros(2)
    for _ in range(30):
        chances = 1 / (1 + np.exp(-rows @ parameter))
        precision = np.eye(2) + rows.T @ (rows * (chances * (1 - chances))[:, None])
        parameter += np.linalg.solve(precision, rows.T @ (rewards - chances) - parameter)
    deviations = np.sqrt(np.diag(np.linalg.inv(precision)))
    assert (np.abs(state.estimate - parameter) < deviations / 5).all()
    np.testing.assert_allclose(state.precision, precision, rtol=0.05, atol=0.05 * precision.max())


def test_the_posterior_is_calibrated() -> None:
    """Its errors, in its own norm, have a mean square of the dimension in worlds of the prior.

    Within five standard errors, sqrt(2 d) each of 40 worlds: false alarm below 1e-5. Contexts are long:
    Laplace's update has 2.8 times as much in the same worlds.
    """
    d, worlds, found = 4, 40, []
    rng, policy = np.random.default_rng(0), FairXLogisticTS(MERIT, prior_std=1)
    for _ in range(worlds):
        truth, rows = rng.normal(size=d), 4 * rng.normal(size=(30, d))
        rewards = (rng.random(30) < 1 / (1 + np.exp(-rows @ truth))).astype(float)
        state = learned(policy, rows, rewards)
        error = truth - state.estimate
        found.append(error @ state.precision @ error)
    assert abs(np.mean(found) - d) < 5 * np.sqrt(2 * d / worlds)


@pytest.mark.parametrize("policy", LOGISTIC if interpreted() else LOGISTIC[:2], ids=name)
def test_policy(policy: Any) -> None:
    for check in CHECKS:
        check(policy)


@pytest.mark.parametrize("policy", LOGISTIC[:2], ids=name)
def test_learning_compiled_is_as_interpreted_to_the_last_bit(policy: Any) -> None:
    rows, rewards, _ = history(60, 3.0)
    state, work = policy.start(1, 2), np.empty(policy.needs(1, 2)[1])
    for row, reward in zip(rows, rewards.tolist(), strict=True):
        policy.absorb(state, 0, row, reward, work)
    for one, other in zip(state, learned(policy, rows, rewards), strict=True):
        np.testing.assert_array_equal(one, other)


def test_optimism_is_about_chances() -> None:
    """Of what the best of 20,000 parameters gains on the estimate, nine tenths in 8 states of 10."""
    rng, gains = np.random.default_rng(7), []
    for _ in range(20):
        policy = FairXLogisticUCB(MERIT, beta=2.0, ridge=0.5)
        rows = rng.normal(size=(6, 3))
        state = learned(policy, rows, rng.integers(2, size=6).astype(float))
        seen = rng.normal(size=(4, 3))
        root = np.linalg.cholesky(np.linalg.inv(state.precision))
        points = rng.normal(size=(20_000, 3))
        points *= rng.random((20_000, 1)) ** 0.2 / np.linalg.norm(points, axis=1, keepdims=True)
        near = state.estimate[:, None] + np.sqrt(2) * root @ points.T
        means = 1 / (1 + np.exp(-(seen @ near).T))
        weights = np.exp(4 * means)
        best = ((weights * means).sum(axis=1) / weights.sum(axis=1)).max()
        start = oracles.value(MERIT, 1 / (1 + np.exp(-seen @ state.estimate)))
        found = policy.probabilities(state, np.arange(4), seen, rng)
        # The merit tells the means apart from a shift, which the estimate's first arm does not have.
        reached = means_of(found, best)
        gains.append((reached - start) / (best - start))
    assert np.mean(np.array(gains) >= 0.9) >= 0.8


def means_of(probabilities: Any, top: float) -> float:
    """Return the highest value of means with these fair probabilities, all at most 1."""
    logs = np.log(probabilities) / 4
    shift = optimize.brentq(lambda s: oracles.value(MERIT, logs + s) - top, -9, 9)
    return float(min(top, oracles.value(MERIT, logs + min(shift, 1 - logs.max()))))


def test_without_width_it_is_fair_to_the_estimate() -> None:
    rows, rewards, _ = history(30, 1.0)
    policy = FairXLogisticUCB(MERIT, beta=0, ridge=1)
    state = learned(policy, rows, rewards)
    found = policy.probabilities(state, np.arange(2), np.eye(2), np.random.default_rng(0))
    expected = oracles.fair(MERIT, 1 / (1 + np.exp(-state.estimate)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.skipif(interpreted(), reason="long in plain Python: run compiled")
@pytest.mark.parametrize("policy", LOGISTIC[:2], ids=name)
def test_a_world_of_clicks_is_learned(policy: Any) -> None:
    """The fairness regret of the second 400 rounds is below that of the first, by two paired errors."""
    world = LogisticLinear(3 * contexts(), parameter=[1.5, -1, 0.5, 0, 1])
    found = simulate(policy, world, MERIT, rounds=800, runs=8, seed=1, checkpoints=2, jobs=1)
    first, all_of_it = found.fairness_regret.T
    gain = 2 * first - all_of_it
    assert gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(8)


def test_environments() -> None:
    check_environment(LogisticLinear(contexts(), parameter=np.ones(5)))
    worlds = [LogisticPrior(contexts(), 2.0).world(np.random.default_rng(s)) for s in (0, 0, 1)]
    assert (worlds[0].parameter == worlds[1].parameter).all()
    assert (worlds[0].parameter != worlds[2].parameter).all()


def test_what_is_refused() -> None:
    policy = FairXLogisticTS(MERIT, prior_std=1)
    with pytest.raises(ValueError, match="reward_range must be within 0 to 1, not -1 to 1"):
        Bandit(policy, 2, 3, seed=1, reward_range=(-1, 1))
    with pytest.raises(ValueError, match="reward_range must be within 0 to 1"):
        simulate(policy, Linear(contexts(), np.ones(5)), MERIT, rounds=10, seed=1)
    with pytest.raises(ValueError, match=r"examination must be 1 for each place, not 0\.5"):
        Bandit(policy, 2, 3, seed=1, feedback="examined").act(np.eye(2, 3), weights=[1, 0.5])
    with pytest.raises(ValueError, match="beta must be"):
        FairXLogisticUCB(MERIT, beta=Confidence(1, 0.1), ridge=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="prior_std must be positive"):
        FairXLogisticTS(MERIT, prior_std=0)


def test_a_bandit_goes_on_from_its_file(tmp_path: Path) -> None:
    policy = LOGISTIC[0]
    bandit = Bandit(policy, ["a", "b"], 2, seed=3)
    for reward in (1.0, 0.0, 1.0):
        bandit.learn(bandit.act(np.eye(2)), reward)
    bandit.save(tmp_path / "bandit.npz")
    again = Bandit.load(tmp_path / "bandit.npz")
    assert again.policy == policy
    assert (again.act(np.eye(2)).probabilities == bandit.act(np.eye(2)).probabilities).all()
