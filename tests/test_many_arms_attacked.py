"""Many arms attacked: merits as far apart as the docs allow, few passes, bandits that only explore."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from fairx import Bandit, Exponential, FairXEG, FairXUCB, simulate
from fairx.bandit import engine
from fairx.environments import Bernoulli, Normal
from fairx.policies.optimism import Exact
from fairx.simulation import catalogue_run

CURVES = ("fairness_regret", "reward_regret", "best_arm_regret", "reward_earned")
NEVER = 10**9  # arms
mean = some.sampled_from([0.0, 0.3, 0.5, 0.5001, 1.0]) | some.floats(0, 1)


def both_ways(policy: Any, world: Any, rounds: int, seed: int) -> Any:
    """Play with a tree, and with all arms in a row."""
    found = []
    for many in (1, NEVER):
        with patch.object(catalogue_run, "MANY", many):
            marks = sorted({1, rounds // 2 + 1, rounds})
            found.append(
                simulate(policy, world, Exponential(4), rounds=rounds, seed=seed, checkpoints=marks)
            )
    return found


def check_same(tree: Any, row: Any) -> None:
    np.testing.assert_array_equal(tree.pulls, row.pulls)
    for curve in CURVES:
        np.testing.assert_allclose(getattr(tree, curve), getattr(row, curve), rtol=0, atol=1e-9)
    np.testing.assert_allclose(tree.exposure_curves, row.exposure_curves, rtol=0, atol=1e-9)


@settings(max_examples=40)
@given(
    some.lists(mean, min_size=1, max_size=70),
    some.sampled_from([0.0, 4.0, 50.0, 120.0, 199.0]),
    some.sampled_from([0.0, 0.1, 1.0]),
    some.integers(1, 400),
    some.integers(0, 10**6),
)
def test_estimates_of_any_merit_are_played_as_in_a_row(
    means: list[float], steepness: float, epsilon: float, rounds: int, seed: int
) -> None:
    policy = FairXEG(Exponential(steepness), epsilon)
    check_same(*both_ways(policy, Bernoulli(means), rounds, seed))


@settings(max_examples=40)
@given(
    some.lists(mean, min_size=1, max_size=70),
    some.sampled_from([(4.0, 2.0), (50.0, 0.5), (50.0, 0.1), (120.0, 0.3)]),
    some.integers(1, 400),
    some.integers(0, 10**6),
)
def test_intervals_of_any_merit_are_played_as_in_a_row(
    means: list[float], steep_and_wide: tuple[float, float], rounds: int, seed: int
) -> None:
    steepness, width = steep_and_wide
    policy = FairXUCB(Exponential(steepness), width)
    check_same(*both_ways(policy, Normal(means, 0.05), rounds, seed))


@pytest.mark.parametrize("seed", range(8))
def test_rounding_does_not_take_the_best_arm_from_its_high_end(seed: int) -> None:
    """Of a steep merit the level is that of one arm, to the last bit, and so is its threshold."""
    means = np.random.default_rng(seed).uniform(size=65).round(1)
    tree, row = both_ways(FairXUCB(Exponential(50.0), 0.5), Normal(means, 0.3), 600, seed)
    check_same(tree, row)


@pytest.mark.parametrize("passes", [1, 2])
def test_a_climb_that_is_cut_short_is_played_in_a_row(passes: int) -> None:
    policy = FairXUCB(Exponential(4.0), 2.0, solver=Exact(passes))
    means = np.random.default_rng(1).uniform(size=65)
    check_same(*both_ways(policy, Bernoulli(means), 300, 1))


def test_exposures_add_up_however_scales_change() -> None:
    means = np.linspace(0, 1, 65)
    tree, _ = both_ways(FairXEG(Exponential(120.0), 0.05), Bernoulli(means), 3000, 2)
    np.testing.assert_allclose(tree.exposure_curves[0, -1].sum(), 1.0, rtol=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_probabilities_are_told_of_a_bandit_that_only_explores(epsilon: float) -> None:
    with patch.object(engine, "MANY", 1):
        bandit = Bandit(FairXEG(Exponential(4.0), epsilon), arms=9, seed=1)
        for t in range(20):
            decision = bandit.act()
            assert decision.probabilities.sum() == pytest.approx(1.0)
            assert decision.probabilities[decision.arm] == decision.probability
            bandit.learn(decision, float(t % 2))
