"""Many arms in a tree: the same rounds as with all of them in a row."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from fairx import UCB, Affine, Exponential, FairXEG, FairXUCB, OptimalFair, Uniform, simulate
from fairx.environments import Bernoulli, Normal
from fairx.numerics.trees import Tree, at, drawn, first_with, lift, lift_all, new_tree, put
from fairx.simulation import catalogue_run

MERIT = Exponential(4.0)
MEANS = np.random.default_rng(3).uniform(size=37).round(1)  # ties
COINS = Bernoulli(MEANS)
POLICIES = {
    "greedy": FairXEG(MERIT, 0.0),
    "explores": FairXEG(MERIT, 0.3),
    "optimist": FairXUCB(MERIT, 0.3),
    "wide": FairXUCB(MERIT, 2.0),
    "affine": FairXUCB(Affine(1.0, 0.2), 0.5, bounds=(0, 1)),
    "fair": OptimalFair(MERIT, MEANS),
    "uniform": Uniform(),
}
CURVES = ("fairness_regret", "reward_regret", "best_arm_regret", "reward_earned")


def _both_ways(policy: Any, world: Any, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Any:
    results = []
    for many in (2, 10**9):
        monkeypatch.setattr(catalogue_run, "MANY", many)
        results.append(
            simulate(policy, world, MERIT, rounds=800, seed=5, checkpoints=[7, 40, 800], **more)
        )
    return results


@pytest.mark.parametrize("name", POLICIES)
def test_a_tree_plays_the_same_rounds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, row = _both_ways(POLICIES[name], COINS, monkeypatch)
    np.testing.assert_array_equal(tree.pulls, row.pulls)
    for curve in CURVES:
        np.testing.assert_allclose(getattr(tree, curve), getattr(row, curve), rtol=0, atol=1e-9)
    np.testing.assert_allclose(tree.exposure_curves, row.exposure_curves, rtol=0, atol=1e-12)


def test_normal_rewards_and_a_range_that_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    tree, row = _both_ways(FairXEG(MERIT, 0.1), Normal(MEANS, 0.1), monkeypatch)
    np.testing.assert_array_equal(tree.pulls, row.pulls)
    steep = FairXEG(Exponential(1000.0), 0.1)  # its merits cannot be added up: the other loop can
    monkeypatch.setattr(catalogue_run, "MANY", 2)
    assert not catalogue_run.suits_catalogue(steep, COINS)


def test_few_arms_and_changed_policies_are_played_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not catalogue_run.suits_catalogue(FairXEG(MERIT, 0.1), COINS)
    monkeypatch.setattr(catalogue_run, "MANY", 2)
    assert catalogue_run.suits_catalogue(FairXEG(MERIT, 0.1), COINS)

    class Other(FairXEG):
        def propose(self, *arguments: Any) -> None:
            super().propose(*arguments)

    assert not catalogue_run.suits_catalogue(Other(MERIT, 0.1), COINS)
    assert not catalogue_run.suits_catalogue(FairXUCB(MERIT, 0.1, solver="gradient"), COINS)
    assert not catalogue_run.suits_catalogue(UCB(0.1), COINS)


weight = some.just(0.0) | some.floats(1e-200, 1e6)
weights = some.lists(weight, min_size=1, max_size=40).filter(lambda them: sum(them) > 0)


@given(weights, some.floats(0, 1, exclude_max=True), some.floats(0, 1))
def test_an_arm_is_drawn_where_the_sums_say(
    them: list[float], uniform: float, share: float
) -> None:
    tree, arms = new_tree(len(them), sums=1), len(them)
    for arm, weight in enumerate(them):
        put(tree, arm, 0, weight)
    lift_all(tree)
    chances = (1 - share) * np.array(them) / tree.top[0] + share / arms
    found = drawn(tree, arms, (1 - share) / tree.top[0], share / arms, uniform)
    assert chances[found] > 0
    ends = np.cumsum(chances)
    assert ends[found] - chances[found] - 1e-9 <= uniform <= ends[found] + 1e-9


@pytest.mark.parametrize("arms", [1, 7, 8, 9, 64, 65, 513])
@given(some.data())
def test_a_tree_is_that_of_its_leaves(arms: int, data: some.DataObject) -> None:
    step = some.tuples(some.integers(0, arms - 1), some.floats(-1e3, 1e3))
    tree, leaves = new_tree(arms, sums=1), np.full((arms, 3), [0.0, np.inf, -np.inf])
    for arm, value in data.draw(some.lists(step, max_size=30)):
        leaves[arm] = value
        for column in range(3):
            put(tree, arm, column, value)
        lift(tree, arm)
    again = Tree(tree.groups.copy(), tree.top.copy(), tree.lowest)
    lift_all(again)
    for one, other in zip(tree, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert tree.top[0] == pytest.approx(leaves[:, 0].sum(), abs=1e-9)
    assert tree.top[1:].tolist() == [leaves[:, 1].min(), leaves[:, 2].max()]
    assert first_with(tree, 1) == int(np.argmin(leaves[:, 1]))
    assert first_with(tree, 2) == int(np.argmax(leaves[:, 2]))
    assert [at(tree, arm, 0) for arm in range(arms)] == leaves[:, 0].tolist()
