"""The generic checks over every policy, and what is particular to some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import policy_oracles
import pytest
from cases import CHECKS, LOGISTIC, MERITS, POLICIES, RIVALS, bowl, name

from fairx import (
    EG,
    TS,
    UCB,
    Ascent,
    Confidence,
    Custom,
    Exact,
    Exponential,
    FairXEG,
    FairXLinEG,
    FairXLinTS,
    FairXLinUCB,
    FairXTS,
    FairXUCB,
    Gradient,
    LinEG,
    LinTS,
    LinUCB,
    OptimalFair,
    policies,
)
from fairx.checks import check_policy
from fairx.compiled import interpreted
from fairx.policies.counts import Counts

NONE = np.empty(0)
SLOWEST = FairXUCB(Custom(bowl), 0.1)


@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_policy(policy: Any) -> None:
    if interpreted() and policy == SLOWEST:
        pytest.skip("a search over each interval, in plain Python: run compiled")
    for check in CHECKS:
        check(policy)


def test_every_policy_is_checked() -> None:
    checked = {type(policy).__name__ for policy in [*POLICIES, *RIVALS, *LOGISTIC]}
    settings = {"Ascent", "Confidence", "Constant", "Exact", "Gradient", "Kernel", "Policy"}
    settings |= {"Bernstein", "Hoeffding", "KullbackLeibler", "Scoring", "SlatePolicy"}
    assert checked == set(policies.__all__) - settings


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: FairXUCB(Exponential(1), width=-0.1),
            "width must be at least 0 and finite, not -0.1",
        ),
        (lambda: FairXUCB(Exponential(1), width=float("nan")), "width must be at least 0"),
        (lambda: FairXUCB(Exponential(1), 0.1, solver="exat"), "solver must be 'exact'"),
        (lambda: FairXUCB(Exponential(1), 0.1, solver=Gradient(steps=0)), "steps must be"),
        (lambda: FairXUCB.for_horizon(Exponential(1), 10, 2, delta=0), "delta must be positive"),
        (lambda: FairXUCB(Exponential(1), 0.1, solver=Exact(passes=0)), "passes must be"),
        (lambda: UCB(width=float("inf")), "width must be"),
        (
            lambda: FairXTS(Exponential(1), prior_std=0, reward_std=1),
            "prior_std must be positive, not 0",
        ),
        (lambda: TS(prior_std=1, reward_std=-1), "reward_std must be positive, not -1"),
        (
            lambda: FairXEG(Exponential(1), epsilon=1.1),
            "epsilon must be a number from 0 to 1, not 1.1",
        ),
        (lambda: EG(epsilon=-0.1), "epsilon must be a number from 0 to 1, not -0.1"),
        (lambda: FairXLinUCB(Exponential(1), beta=-1, ridge=1), "beta must be at least 0"),
        (lambda: FairXLinUCB(Exponential(1), beta=1, ridge=0), "ridge must be positive, not 0"),
        (
            lambda: FairXLinUCB(Exponential(1), beta=1, ridge=1, solver="exact"),
            "solver must be 'ascent'",
        ),
        (lambda: LinUCB(beta=Confidence(1, delta=2), ridge=1), "delta must be"),
        (
            lambda: FairXLinTS(Exponential(1), prior_std=1, reward_std=0),
            "reward_std must be positive",
        ),
        (lambda: LinTS(prior_std=cast("Any", "a"), reward_std=1), "prior_std must be"),
        (lambda: FairXLinEG(Exponential(1), epsilon=2, ridge=1), "epsilon must be"),
        (lambda: LinEG(epsilon=0.1, ridge=-1), "ridge must be positive, not -1"),
        (lambda: OptimalFair(Exponential(1), means=[]), "the number of means must be"),
        (
            lambda: OptimalFair(Exponential(1), means=[0.1]).start(2),
            "means must be given for all 2 arms",
        ),
        (
            lambda: FairXTS(Exponential(1), 1, 1).start(0),
            "arms must be a whole number of at least 1, not 0",
        ),
        (lambda: LinTS(1, 1).start(2, 0), "dimension must be a whole number of at least 1, not 0"),
    ],
)
def test_bad_settings_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("policy", [*POLICIES, *LOGISTIC], ids=name)
def test_every_number_among_the_settings_is_checked(policy: Any) -> None:
    """No setting of a policy, of its radius or of its solver may be negative or no number."""
    records: list[Any] = [policy, getattr(policy, "beta", None), getattr(policy, "solver", None)]
    for record in records:
        for field in getattr(record, "_fields", ()):
            if isinstance(getattr(record, field), (int, float)):
                positive = field in ("ridge", "prior_std", "reward_std", "rate", "steps", "starts")
                for wrong in (-1.0, float("nan"), float("inf"), "a", *([0] if positive else [])):
                    with pytest.raises(ValueError, match=f"{field} must be"):
                        record._replace(**{field: wrong})


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), None, "a"])
def test_a_bad_reward_is_refused_and_changes_nothing(reward: Any) -> None:
    policy = FairXTS(Exponential(4), 1, 1)
    state = policy.start(2)
    with pytest.raises(ValueError, match="reward must be"):
        policy.learn(state, 0, NONE, reward)
    assert state.pulls.sum() == 0


def test_bad_arms_and_contexts_are_refused() -> None:
    policy, rng = FairXLinTS(Exponential(4), 1, 1), np.random.default_rng(0)
    state = policy.start(3, 2)
    with pytest.raises(
        ValueError, match=r"contexts must have shape \(3, 2\), not \(2, 3\): one row"
    ):
        policy.probabilities(state, np.arange(3), np.ones((2, 3)), rng)
    with pytest.raises(ValueError, match=r"contexts must be finite, not nan at \(0, 1\)"):
        policy.probabilities(state, np.arange(1), np.array([[0.0, np.nan]]), rng)
    with pytest.raises(ValueError, match="arms must be distinct"):
        policy.probabilities(state, np.array([1, 1]), np.ones((2, 2)), rng)
    with pytest.raises(ValueError, match="at least one arm"):
        policy.probabilities(state, np.array([]), np.ones((0, 2)), rng)


def test_arms_and_contexts_must_fit_the_state() -> None:
    counts, rng = FairXTS(Exponential(4), 1, 1), np.random.default_rng(0)
    with pytest.raises(ValueError, match="arm 5 does not exist: there are 3, 0 to 2"):
        counts.probabilities(counts.start(3), np.array([0, 5]), np.empty((2, 0)), rng)
    with pytest.raises(ValueError, match="arm 3 does not exist"):
        counts.learn(counts.start(3), 3, NONE, 1.0)
    linear = LinEG(0.1, 1)
    with pytest.raises(ValueError, match=r"contexts must have shape \(2, 2\), not \(2, 3\)"):
        linear.probabilities(linear.start(2, 2), np.arange(2), np.ones((2, 3)), rng)
    with pytest.raises(ValueError, match=r"context must have shape \(2,\), not \(3,\)"):
        linear.learn(linear.start(2, 2), 0, np.ones(3), 1.0)


@pytest.mark.parametrize("policy", [UCB(0.1), FairXUCB(Exponential(4), 0.1)], ids=name)
def test_the_ucb_family_plays_each_arm_once_first_in_order(policy: Any) -> None:
    state, rng = policy.start(3), np.random.default_rng(0)
    for arm in range(3):
        found = policy.probabilities(state, np.arange(3), np.empty((3, 0)), rng)
        assert found.tolist() == np.eye(3)[arm].tolist()
        policy.learn(state, arm, NONE, 0.5)
    subset = policy.probabilities(policy.start(3), np.array([2, 0]), np.empty((2, 0)), rng)
    assert subset.tolist() == [1.0, 0.0]


def test_conventional_ties_go_to_the_lowest_arm() -> None:
    rng = np.random.default_rng(0)
    both: list[Any] = [EG(0.0), LinEG(0.0, 1)]
    for policy in both:
        found = policy.probabilities(policy.start(3, 3), np.arange(3), np.eye(3), rng)
        assert found.tolist() == [1.0, 0.0, 0.0]


def test_epsilon_greedy_deploys_the_mixture() -> None:
    merit, rng = Exponential(2), np.random.default_rng(0)
    policy = FairXEG(merit, 0.2)
    state = policy.start(2)
    policy.learn(state, 1, NONE, 1.0)
    fair = np.exp([0.0, 2.0]) / np.exp([0.0, 2.0]).sum()
    found = policy.probabilities(state, np.arange(2), np.empty((2, 0)), rng)
    np.testing.assert_allclose(found, 0.8 * fair + 0.1, rtol=1e-14)


@pytest.mark.parametrize("steepness", [1000, 1e6])
@pytest.mark.parametrize(
    "make", [lambda m: FairXEG(m, 0.1), lambda m: FairXUCB(m, 6.0), lambda m: FairXTS(m, 5, 5)]
)
def test_no_overflow_at_any_steepness(make: Callable[[Any], Any], steepness: float) -> None:
    policy, rng = make(Exponential(steepness)), np.random.default_rng(0)
    state = policy.start(3)
    for arm, reward in [(0, 0.9), (1, -0.9), (2, 0.8), (0, 0.91)]:
        policy.learn(state, arm, NONE, reward)
    found = policy.probabilities(state, np.arange(3), np.empty((3, 0)), rng)
    assert np.isfinite(found).all()
    assert abs(found.sum() - 1) < 1e-12


def test_the_schedule_of_the_confidence_proposition_widens_the_ellipsoid() -> None:
    rng, arms = np.random.default_rng(0), np.arange(2)
    fixed = FairXLinUCB(Exponential(4), beta=Confidence(1, 0.1).squared_radius(1, 2), ridge=1)
    growing = FairXLinUCB(Exponential(4), beta=Confidence(1, 0.1), ridge=1)
    state = growing.start(2, 2)
    first = [p.probabilities(state, arms, np.eye(2), rng) for p in (fixed, growing)]
    np.testing.assert_array_equal(first[0], first[1])
    growing.learn(state, 0, np.eye(2)[0], 0.5)
    later = [p.probabilities(state, arms, np.eye(2), rng) for p in (fixed, growing)]
    assert later[1].max() > later[0].max()


def test_replacing_a_setting_checks_it() -> None:
    policy = FairXTS(Exponential(4), 1, 1)
    assert repr(policy._replace(prior_std=2)) == repr(FairXTS(Exponential(4), 2.0, 1.0))
    with pytest.raises(ValueError, match="prior_std must be positive, not -2"):
        policy._replace(prior_std=-2)


def test_whole_numbers_are_numbers() -> None:
    """Compiled 2**-2 of whole numbers is wrong: the settings must have become floats."""
    assert repr(FairXTS(Exponential(4), 2, 1)) == repr(FairXTS(Exponential(4.0), 2.0, 1.0))


def test_the_checks_can_fail() -> None:
    class Peeping(type(FairXTS(MERITS[0], 1, 1))):  # type: ignore[misc]
        def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
            state.pulls[0] += 1
            return FairXTS.probabilities(self, state, arms, contexts, rng)

    with pytest.raises(AssertionError, match="changed the state"):
        check_policy(Peeping(MERITS[0], 1, 1))


class Forgetting(NamedTuple):
    """Forgets: what is older counts less, that of all arms."""

    keep: float

    def start(self, arms: int, dimension: int) -> Any:
        return Counts(np.zeros(arms), np.zeros(arms))

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        weights = 1.0 + state.reward_sums[arms] / np.maximum(state.pulls[arms], 1e-9)
        return weights / weights.sum()

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        state.pulls[:] *= self.keep
        state.reward_sums[:] *= self.keep
        state.pulls[arm] += 1.0
        state.reward_sums[arm] += reward


class Promising(Forgetting):
    """Promises what it does not keep, unless it forgets nothing."""

    any_order = True


def test_the_order_of_rewards_is_asked_of_those_who_promise() -> None:
    check_policy(Forgetting(0.9))
    check_policy(Promising(1.0))
    with pytest.raises(
        AssertionError, match="order of rewards changes the state, against its prom"
    ):
        check_policy(Promising(0.9))


def test_our_policies_promise_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def learn_twice(self: Any, state: Any, arm: int, context: Any, reward: float) -> None:
        state.reward_sums[arm] = 0.9 * state.reward_sums[arm] + reward

    monkeypatch.setattr(UCB, "learn", learn_twice)
    with pytest.raises(AssertionError, match="order of rewards changes the state"):
        check_policy(UCB(0.1))


MORE: list[Any] = [
    FairXUCB(MERITS[0], width=0.02, solver=Gradient(steps=15, rate=0.5)),  # to a corner
    FairXUCB(MERITS[3], width=3.0, solver=Gradient(steps=3, rate=0.05)),  # never out of the box
    FairXUCB(MERITS[1], width=0.1),  # merits that are out of range
    FairXEG(MERITS[1], epsilon=0.1),
    *(
        FairXLinUCB(merit, beta, ridge, solver)
        for merit in MERITS[:6:2]
        for beta, ridge, solver in (
            (1e-4, 1.0, Gradient()),  # at the boundary after a step
            (0.3, 0.5, Gradient(steps=30, rate=0.1)),  # at the boundary after some
            (9.0, 2.0, Gradient(steps=3, rate=0.05)),  # inside
            (Confidence(0.7, 0.1), 1.0, Gradient(steps=40, rate=0.2)),
            (9.0, 0.2, Ascent()),
            (0.5, 0.1, Ascent(starts=1, steps=3)),
            (2.0, 0.1, Ascent(starts=9, steps=60, tolerance=1e-5)),
        )
    ),
    LinUCB(beta=Confidence(2.0, 0.01), ridge=0.3),
]
# Compiled, each is the same as interpreted (test_compiled.py), and takes long.
WITH_ORACLES = [*POLICIES, *MORE] if interpreted() else POLICIES[:7]


@pytest.mark.parametrize("policy", WITH_ORACLES, ids=name)
def test_deployed_probabilities_are_those_of_the_whole_history(policy: Any) -> None:
    """After 0 to 40 rewards of 4 arms, for arms on offer in any order, to 1e-12."""
    rng = np.random.default_rng(11)
    for length in (0, 1, 3, 10, 40):
        history, state = [], policy.start(4, 3)
        for i in range(length):
            history.append((i % 4, rng.normal(size=3), float(rng.normal(0.5, 0.3))))
            policy.learn(state, *history[-1])
        arms = rng.permutation(4)[: rng.integers(1, 5)]
        contexts = rng.normal(size=(len(arms), 3))
        used, same = np.random.default_rng(length), np.random.default_rng(length)
        found = policy.probabilities(state, arms, contexts, used)
        expected = policy_oracles.deployed(policy, history, arms, contexts, same)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        assert used.random() == same.random()  # as many numbers were drawn


@pytest.mark.parametrize("t", [1, 2, 10, 1000])
@pytest.mark.parametrize("dimension", [1, 5, 40])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 1.0])
def test_the_radius_of_the_confidence_proposition(t: int, dimension: int, delta: float) -> None:
    for norm in (0.0, 1.0, 3.0):
        rule = Confidence(norm, delta)
        expected = policy_oracles.squared_radius(rule, t, dimension)
        assert rule.squared_radius(t, dimension) == pytest.approx(expected, rel=1e-12)
