"""Many arms attacked: merits as far apart as the docs allow, few passes, bandits that only explore."""

from __future__ import annotations

import math
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from fairx import Bandit, Exponential, FairXEG, FairXUCB, OptimalFair, simulate
from fairx.bandit import engine
from fairx.environments import Bernoulli, Normal
from fairx.numerics.trees import drawn, lift_all, new_tree
from fairx.policies.many_arms import weigher_of
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


@pytest.mark.parametrize("arms", [3, 600])
def test_an_arm_that_is_refused_changes_nothing(arms: int) -> None:
    """The next decision was made for one more arm than there are means."""
    bandit = Bandit(OptimalFair(Exponential(4), np.linspace(0, 1, arms)), arms=arms, seed=1)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"for all {arms + 1} arms"):
            bandit.add_arm("new")
        assert bandit.act().arm in range(arms)
    bandit.remove_arm(0)
    assert bandit.act().arm in range(1, arms)


def test_a_solver_that_was_patched_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree went on with ours: other pulls than with all arms in a row."""
    policy = FairXUCB(Exponential(4), 0.2)
    assert weigher_of(policy, 600, 0, 1) is not None

    def even(self: Any, merit: Any, state: Any, arms: Any, work: Any, out: Any) -> None:
        out[:] = 1.0 / len(arms)

    monkeypatch.setattr(Exact, "deploy_optimum", even)
    assert weigher_of(policy, 600, 0, 1) is None


class SquareRoot(NamedTuple):
    """A merit of others, as on the page: an error below its floor."""

    floor: float

    def log(self, mean: float) -> float:
        return 0.5 * math.log(mean + self.floor)


def test_a_merit_that_ends_within_reach_is_asked_arm_by_arm() -> None:
    """With 512 arms it was a math domain error, and with 511 none."""
    merit: Any = SquareRoot(0.1)
    policy, means = FairXEG(merit, 0.1), np.linspace(0.4, 0.6, 512)
    assert weigher_of(policy, 512, 0, 1) is not None
    assert weigher_of(policy, 512, -1, 1) is None
    result = simulate(policy, Normal(means, 0.08), Exponential(4), rounds=20, seed=1)
    assert result.pulls.sum() == 20
    assert Bandit(policy, arms=512, seed=1, reward_range=(-1, 1)).act().arm in range(512)


@pytest.mark.parametrize("arms", [1, 8, 513, 576, 1000, 4100])
def test_the_last_arm_takes_what_rounding_leaves(arms: int) -> None:
    """The walk went on where there was no tree: an IndexError, or memory that is not ours."""
    rng = np.random.default_rng(arms)
    for _ in range(20):
        tree = new_tree(arms, 1)
        for arm in range(arms):
            tree.groups[tree.lowest + arm // 8, 0, arm % 8] = np.exp(4 * rng.uniform())
        lift_all(tree)
        for epsilon in (0.0, 0.05, 1.0):
            found = drawn(tree, arms, (1 - epsilon) / tree.top[0], epsilon / arms, 1 - 2**-53)
            assert arms - 8 <= found < arms


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


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize(
    ("bounds", "steepness", "width"),
    [((0.4, 0.7999999999999999), 100.0, 0.5), ((0.0, 0.7), 100.0, 0.5), ((-0.1, 1.1), 50.0, 2.0)],
)
def test_rounding_takes_no_arm_from_a_bound_that_many_reach(
    bounds: tuple[float, float], steepness: float, width: float, seed: int
) -> None:
    """Arms due an eighth of all exposure had none: the level they promise was rounded to above their bound."""
    means = np.random.default_rng(seed).uniform(*bounds, size=20)
    policy = FairXUCB(Exponential(steepness), width, bounds=bounds)
    check_same(*both_ways(policy, Normal(means, 0.3), 160, seed))


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
