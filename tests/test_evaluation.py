"""Estimates against hand computations, slow oracles and the properties they must have."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fairx import Exponential, FairXTS, OptimalFair, Uniform, fair_probabilities, logs
from fairx.evaluation import (
    Logged,
    confidence_sequence,
    evaluate,
    from_table,
    intervals,
    logged,
    looking,
    mean_rewards,
    reading,
    sequences,
    split,
)
from fairx.evaluation.gathering import Rows
from fairx.evaluation.terms import Terms, ips, snips

ALL = ("ips", "snips", "dm", "dr", "replay")
WEIGHTED = ("ips", "snips", "dr")
SEEDS = st.integers(0, 2**32 - 1)


def log_of(*columns: Any, **named: Any) -> Logged:
    """Return a log of lists, which types would have as arrays."""
    return Logged(*columns, **named)


def made_log(
    seed: int,
    rows: int = 40,
    arms: int = 4,
    pools: bool = False,
    width: int = 0,
    wide: bool = False,
) -> Logged:
    """Return a random log: every arm shown, all numbers arbitrary."""
    rng = np.random.default_rng(seed)
    slots = arms
    candidates = None
    if pools:
        candidates = np.array([rng.permutation(arms) for _ in range(rows)])
        candidates[rng.random(rows) < 0.5, -1] = -1
    there = np.ones((rows, slots), bool) if candidates is None else candidates >= 0
    probabilities = np.where(there, rng.random((rows, slots)) + 0.1, 0)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    places = np.array([rng.choice(slots, p=row) for row in probabilities])
    each = np.arange(rows)
    shown = places if candidates is None else candidates[each, places]
    shape = (rows, slots, width) if wide else (rows, width)
    return Logged(
        arms=shown,
        rewards=rng.normal(size=rows),
        propensities=probabilities[each, places],
        candidates=candidates,
        contexts=rng.normal(size=shape) if width else None,
        names=tuple(range(arms)),
    )


def random_target(log: Logged, seed: int) -> np.ndarray[Any, Any]:
    shares = np.random.default_rng([seed, 1]).random(log.all_candidates().shape) * (
        log.all_candidates() >= 0
    )
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


@pytest.fixture(scope="module", autouse=True)
def nothing_is_withheld() -> Iterator[None]:
    """Logs are small here, to be computed by hand: test_withholding.py is about what is withheld."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "reasons", lambda *_: ())
        yield


# Hand-computed and published examples


def test_the_example_of_vowpal_wabbit() -> None:
    """The inputs of VowpalWabbit/estimators, test/test_pi.py; the sums done by hand.

    The weights are 3/4, 8/5, 3/5 and 9/2: IPS is (0.075 + 0.32 + 0 + 4.5) / 4, SNIPS divides by
    7.45 instead. One other arm takes the rest of each probability.
    """
    log = log_of([0] * 4, [0.1, 0.2, 0.0, 1.0], [0.8, 0.25, 0.5, 0.2], names=("it", "other"))
    policy = np.array([[0.6, 0.4], [0.4, 0.6], [0.3, 0.7], [0.9, 0.1]])
    found = evaluate(log, policy, "ips", max_unsupported=1)
    assert found.reward == pytest.approx(1.22375, abs=1e-9)
    other = evaluate(log, policy, "snips", max_unsupported=1)
    assert other.reward == pytest.approx(4.895 / 7.45, abs=1e-9)
    assert found.exposures == pytest.approx([0.55, 0.45], abs=1e-9)
    assert found.diagnostics.unsupported == pytest.approx(0.45, abs=1e-9)
    assert found.diagnostics.largest_weight == pytest.approx(4.5, abs=1e-9)
    squares = 0.75**2 + 1.6**2 + 0.6**2 + 4.5**2
    assert found.diagnostics.effective_sample_size == pytest.approx(7.45**2 / squares, abs=1e-9)


def test_a_hand_computed_example() -> None:
    """Arms 0 0 1 1 1 with rewards 1 0 1 1 0: means 1/2 and 2/3; target 1/4, 3/4."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    propensities = [half, quarter, half, 1 - quarter, half]
    log = log_of([0, 0, 1, 1, 1], [1, 0, 1, 1, 0], [float(p) for p in propensities])
    weights = [w / p for w, p in zip([quarter] * 2 + [1 - quarter] * 3, propensities, strict=True)]
    gained = weights[0] + weights[2] + weights[3]  # 1/2 + 3/2 + 1
    assert gained == 3
    value = quarter * half + (1 - quarter) * Fraction(2, 3)  # 5/8
    means = [half, half, Fraction(2, 3), Fraction(2, 3), Fraction(2, 3)]
    rewards = [1, 0, 1, 1, 0]
    rest = sum(w * (r - m) for w, r, m in zip(weights, rewards, means, strict=True))
    wanted = {
        "ips": gained / 5,
        "snips": gained / sum(weights),
        "dm": value,
        "dr": value + rest / 5,
    }
    for estimator, number in wanted.items():
        found = evaluate(log, [0.25, 0.75], estimator, folds=1)
        assert found.reward == pytest.approx(float(number), abs=1e-9), estimator


def test_the_standard_errors_by_hand() -> None:
    """IPS: terms 2, 0, 1, 0. Mean 3/4, variance 11/12, error sqrt(11/48).

    SNIPS: weights 2, 1/2, 1, 1/2; the ratio is 3/4; residuals w (r - 3/4) are 1/2, -3/8, 1/4,
    -3/8, their variance 19/96 (the mean is 0), divided by the mean weight 1 and by 4.
    """
    weights, rewards = np.array([2.0, 0.5, 1.0, 0.5]), np.array([1.0, 0.0, 1.0, 0.0])
    rows = Rows(np.array([0, 1, 0, 1]), rewards, weights)
    for found, error in ((ips, 11 / 48), (snips, 19 / 96 / 4)):
        assert found(rows, weights).estimate() == pytest.approx(0.75, abs=1e-9)
        terms = found(rows, weights)
        assert intervals.standard_error(terms) == pytest.approx(math.sqrt(error), abs=1e-9)
        by_one = terms._replace(units=np.arange(4))
        assert intervals.normal(by_one, 0.05) == pytest.approx(intervals.normal(terms, 0.05))
    log = log_of([0] * 4, [1, 0, 1, 0], [0.5, 1, 1, 1], names=(0,))
    assert evaluate(log, np.ones((4, 1)), "ips").reward == pytest.approx(0.75, abs=1e-9)


@pytest.mark.parametrize("units", [20, 60, 1000])
def test_intervals_are_of_student(units: int) -> None:
    """The terms are as a normal distribution has them: kurtosis 3, so that freedom is as of units."""
    terms = stats.norm.ppf((np.arange(units) + 0.5) / units)
    kurtosis = float(np.mean(terms**4) / np.mean(terms**2) ** 2)
    low, high = intervals.normal(Terms(terms, np.ones(units), None, np.ones(units)), 0.05)
    error = terms.std(ddof=1) / math.sqrt(units)
    wanted = stats.t.ppf(0.975, 2 * units / (kurtosis - 1))
    assert [-low / error, high / error] == pytest.approx([wanted, wanted], rel=1e-3)


def test_replay_by_hand() -> None:
    """A deterministic target is replayed without any draw: the mean of rows that agree."""
    log = log_of([0, 1, 1, 0, 1], [1, 0, 1, 1, 1], [0.5] * 5)
    found = evaluate(log, {1: 1.0}, "replay")
    assert found.reward == pytest.approx(2 / 3, abs=1e-9)
    assert found.diagnostics.effective_sample_size == pytest.approx(3)
    assert evaluate(log, {1: 1.0}, "replay", seed=5).reward == pytest.approx(2 / 3, abs=1e-9)


def test_replay_allows_for_the_size_of_the_pool() -> None:
    """Half the pools have 2 candidates, half 4: accepted rows must be half and half."""
    rng = np.random.default_rng(0)
    rows = 40_000
    small = np.arange(rows) % 2 == 0
    candidates = np.where(small[:, None], [0, 1, -1, -1], [0, 1, 2, 3])
    arms = rng.integers(np.where(small, 2, 4))
    log = log_of(arms, small.astype(float), np.where(small, 0.5, 0.25), candidates)
    found = evaluate(log, Uniform(), "replay", seed=1)
    accepted = found.diagnostics.effective_sample_size
    assert accepted == pytest.approx(rows / 4, abs=5 * math.sqrt(rows * 3 / 16))
    assert found.reward == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(accepted))


# Slow oracles


def slow(log: Logged, policy: Any, estimator: str, folds: int, ridge: float) -> float:
    """Return the published definitions, row by row."""
    slots, rows = log.all_candidates(), len(log.arms)

    def row(i: int, slot: int) -> Any:
        if log.contexts is None:
            return np.ones(1)
        if log.contexts.ndim == 3:
            return log.contexts[i, slot]
        return np.array([1.0, *log.contexts[i]])

    def model(i: int, slot: int) -> float:
        shared = log.contexts is not None and log.contexts.ndim == 3
        others = [j for j in range(rows) if folds == 1 or j % folds != i % folds]
        same = [j for j in others if shared or log.arms[j] == slots[i, slot]]
        if not same:
            return float(np.mean([log.rewards[j] for j in others]))
        seen = np.array([row(j, int(np.flatnonzero(slots[j] == log.arms[j])[0])) for j in same])
        penalty = np.eye(seen.shape[1]) * ridge
        penalty[0, 0] = ridge if shared else 0
        solved = np.linalg.solve(seen.T @ seen + penalty, seen.T @ log.rewards[same])
        return float(row(i, slot) @ solved)

    top = bottom = 0.0
    for i in range(rows):
        place = int(np.flatnonzero(slots[i] == log.arms[i])[0])
        weight = policy[i, place] / log.propensities[i]
        there = [s for s in range(slots.shape[1]) if slots[i, s] >= 0]
        if estimator in ("dm", "dr"):
            top += sum(policy[i, s] * model(i, s) for s in there)
            top += weight * (log.rewards[i] - model(i, place)) if estimator == "dr" else 0.0
        else:
            top += weight * log.rewards[i]
        bottom += weight if estimator == "snips" else 1.0
    return top / bottom


@pytest.mark.parametrize("estimator", ["ips", "snips", "dm", "dr"])
@pytest.mark.parametrize("pools", [False, True])
@pytest.mark.parametrize(("width", "wide"), [(0, False), (2, False), (3, True)])
@settings(max_examples=5, deadline=None)
@given(seed=SEEDS)
def test_estimates_are_their_definitions(
    estimator: str, pools: bool, width: int, wide: bool, seed: int
) -> None:
    log = made_log(seed, 24, 3, pools, width, wide)
    policy = random_target(log, seed)
    folds = 3 if estimator == "dr" else 1
    found = evaluate(log, policy, estimator, folds=folds, ridge=0.7, max_unsupported=1)
    wanted = slow(log, policy, estimator, folds, 0.7)
    assert found.reward == pytest.approx(wanted, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize(("width", "wide"), [(0, False), (2, False), (3, True)])
def test_the_error_of_the_direct_method_is_that_of_its_model(width: int, wide: bool) -> None:
    """The delta method: what each reward adds is the derivative of the estimate by it.

    The estimate is linear in the rewards, so that a step of 1 in one reward gives it exactly.
    """
    log = made_log(3, 30, 3, True, width, wide)
    policy = random_target(log, 3)
    source, terms = _direct_terms(log, policy)
    for i in (0, 7, 29):
        bumped = log._replace(rewards=log.rewards + (np.arange(30) == i))
        gained = evaluate(bumped, policy, "dm", max_unsupported=1).reward - source
        spread = terms(i)
        assert gained * 30 == pytest.approx(spread, abs=1e-9)


def _direct_terms(log: Logged, policy: Any) -> tuple[float, Callable[[int], float]]:
    from fairx.evaluation.folds import apart
    from fairx.evaluation.gathering import gathered
    from fairx.evaluation.models import fitted, leverages
    from fairx.evaluation.targets import target

    model = fitted(log, apart(1), 1.0)
    found = gathered(log, target(policy, log, None, 1, None), model, "dm")
    parts, _ = leverages(model, log, found.asked)
    estimate = evaluate(log, policy, "dm", max_unsupported=1).reward
    return estimate, lambda i: float(parts[i])


# Properties


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, pools=st.booleans())
def test_the_logging_policy_itself_brings_the_mean_reward(seed: int, pools: bool) -> None:
    log = made_log(seed, pools=pools)
    rng = np.random.default_rng(seed)
    own = rng.random(log.all_candidates().shape) * (log.all_candidates() >= 0)
    own[np.arange(40), log.positions()] = 0
    own *= ((1 - log.propensities) / own.sum(axis=1))[:, None]
    own[np.arange(40), log.positions()] = log.propensities
    for estimator in ("ips", "snips"):
        found = evaluate(log, own, estimator, max_unsupported=1)
        assert found.reward == pytest.approx(log.rewards.mean(), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, shift=st.floats(-100, 100), scale=st.floats(0.1, 10))
def test_rewards_may_be_shifted_and_scaled(seed: int, shift: float, scale: float) -> None:
    log = made_log(seed)
    policy = random_target(log, seed)
    moved = log._replace(rewards=shift + scale * log.rewards)
    for estimator in ("snips", "dm"):
        first, second = (evaluate(x, policy, estimator, max_unsupported=1) for x in (log, moved))
        wanted = [shift + scale * end for end in (first.reward, first.low, first.high)]
        assert [second.reward, second.low, second.high] == pytest.approx(wanted, abs=1e-8)
    first, second = (evaluate(x, policy, "ips", max_unsupported=1) for x in (log, moved))
    mean = first.diagnostics.mean_weight
    assert second.reward == pytest.approx(shift * mean + scale * first.reward, abs=1e-8)


@pytest.mark.parametrize("estimator", [*ALL[:3], "dr"])
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, pools=st.booleans())
def test_the_order_of_rows_is_no_matter(estimator: str, seed: int, pools: bool) -> None:
    log = made_log(seed, pools=pools, width=2)
    policy = random_target(log, seed)
    order = np.random.default_rng(seed).permutation(40)
    first = evaluate(log, policy, estimator, folds=1, max_unsupported=1)
    second = evaluate(logged.part(log, order), policy[order], estimator, folds=1, max_unsupported=1)
    for name in ("reward", "low", "high", "exposures"):
        assert getattr(second, name) == pytest.approx(getattr(first, name), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, pools=st.booleans())
def test_exposures_sum_to_one(seed: int, pools: bool) -> None:
    log = made_log(seed, pools=pools)
    policy = random_target(log, seed)
    found = evaluate(log, policy, max_unsupported=1)
    assert found.exposures.sum() == pytest.approx(1, abs=1e-12)
    wanted = [float(policy[log.all_candidates() == arm].sum()) / 40 for arm in range(4)]
    assert found.exposures == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_the_doubly_robust_estimate_has_the_others_as_limits(seed: int) -> None:
    """A model without error leaves the direct method; a model of nothing leaves IPS."""
    log = made_log(seed, width=2, wide=True)
    policy = random_target(log, seed)
    assert log.contexts is not None
    true = np.array([0.3, -0.6])
    values = log.contexts @ true
    exact = log._replace(rewards=values[np.arange(40), log.positions()])
    wanted = float((policy * values).sum(axis=1).mean())
    for estimator in ("dm", "dr"):
        found = evaluate(exact, policy, estimator, ridge=1e-12, max_unsupported=1)
        assert found.reward == pytest.approx(wanted, abs=1e-8)
    blind = evaluate(log, policy, "dr", ridge=1e15, max_unsupported=1).reward
    assert blind == pytest.approx(evaluate(log, policy, "ips", max_unsupported=1).reward, abs=1e-9)


@pytest.mark.parametrize("estimator", ["ips", "snips", "dm", "dr"])
def test_decisions_told_twice_are_not_twice_the_evidence(estimator: str) -> None:
    log = made_log(1, 60)
    policy = random_target(log, 1)
    twice = logged.part(log, np.repeat(np.arange(60), 3))
    twice = twice._replace(units=np.repeat(np.arange(60), 3))
    first = evaluate(log, policy, estimator, folds=1, max_unsupported=1)
    second = evaluate(twice, np.repeat(policy, 3, axis=0), estimator, folds=1, max_unsupported=1)
    naive = evaluate(
        twice._replace(units=None), np.repeat(policy, 3, axis=0), estimator, folds=1,
        max_unsupported=1,
    )  # fmt: skip
    assert (second.low, second.high) == pytest.approx((first.low, first.high), abs=1e-9)
    assert naive.high - naive.low < 0.6 * (first.high - first.low)


def test_the_bootstrap_is_by_unit_and_by_seed() -> None:
    log = made_log(2, 400)._replace(units=np.arange(400) // 4)
    draws: dict[str, Any] = {"interval": "bootstrap", "resamples": 2000}
    one, same, other = (evaluate(log, Uniform(), seed=seed, **draws) for seed in (1, 1, 2))
    assert (one.low, one.high) == (same.low, same.high) != (other.low, other.high)
    normal = evaluate(log, Uniform())
    # 2000 resamples place a 2.5 % quantile within 4 * sqrt(0.025 * 0.975 / 2000) of probability,
    # which is less than 0.25 standard errors there; the skew of 100 units is of the same order.
    error = (normal.high - normal.low) / 3.92
    assert one.low == pytest.approx(normal.low, abs=0.5 * error)
    assert one.high == pytest.approx(normal.high, abs=0.5 * error)


# Targets


def test_a_policy_is_the_same_however_it_is_given() -> None:
    log = made_log(4, 200, width=2)
    shares = fair_probabilities(Exponential(3), [0.1, 0.4, 0.2, 0.3])
    forms: list[Any] = [
        shares,
        dict(enumerate(shares)),
        np.tile(shares, (200, 1)),
        lambda contexts: np.tile(shares, (len(contexts), 1)),
        OptimalFair(Exponential(3), [0.1, 0.4, 0.2, 0.3]),
    ]
    first, *others = (evaluate(log, form, "dr") for form in forms)
    for other in others:
        assert other.reward == pytest.approx(first.reward, abs=1e-12)
        assert other.exposures == pytest.approx(shares, abs=1e-12)


def test_a_constant_policy_divides_among_the_candidates() -> None:
    log = log_of([0, 1], [1, 0], [0.5, 0.5], candidates=[[0, 2], [1, 2]], names=("a", "b", "c"))
    found = evaluate(log, {"a": 0.2, "b": 0.6, "c": 0.2}, max_unsupported=1)
    assert found.exposures == pytest.approx([0.25, 0.375, 0.375])


def test_a_policy_that_draws_is_averaged_over_its_draws() -> None:
    """Two arms alike but for their number of rewards: on average, each is shown half the time."""
    log = made_log(5, 100, 2)
    policy = FairXTS(Exponential(4), prior_std=1, reward_std=1)
    state = policy.start(2, 0)
    found = evaluate(log, policy, state=state, draws=2000, seed=1)
    assert found.exposures.sum() == pytest.approx(1)
    # A share is between 0 and 1: the standard deviation of 2000 of them is at most 0.5 / sqrt(2000)
    assert found.exposures[0] == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(2000))
    order = np.random.default_rng(0).permutation(100)
    other = evaluate(logged.part(log, order), policy, state=state, draws=2000, seed=1)
    assert other.reward == pytest.approx(found.reward, abs=1e-9)
    with pytest.raises(ValueError, match=r"seed .the policy draws at random. must be"):
        evaluate(log, policy, state=state)


def test_a_policy_with_contexts_sees_each_candidate() -> None:
    from fairx import FairXLinEG

    log = made_log(6, 30, 3, pools=True, width=2, wide=True)
    policy = FairXLinEG(Exponential(3), epsilon=0.2, ridge=1.0)
    state = policy.start(3, 2)
    assert log.contexts is not None
    for i in range(30):
        policy.learn(state, int(log.arms[i]), log.contexts[i, log.positions()[i]], log.rewards[i])
    found = evaluate(log, policy, state=state, max_unsupported=1)
    rng, rows = np.random.default_rng(0), np.zeros(log.all_candidates().shape)
    for i in range(30):
        there = log.all_candidates()[i] >= 0
        rows[i, there] = policy.probabilities(
            state, log.all_candidates()[i, there], log.contexts[i, there], rng
        )
    assert found.reward == pytest.approx(evaluate(log, rows, max_unsupported=1).reward, abs=1e-12)


# Support


def test_what_has_no_support_is_refused() -> None:
    log = log_of([0, 1, 0], [1, 0, 1], [0.5, 0.5, 0.5], names=("a", "b", "c"))
    for estimator in ALL[:4]:
        with pytest.raises(ValueError, match=r"support in the log, not 0.3 .* c \(0.3\)"):
            evaluate(log, {"a": 0.4, "b": 0.3, "c": 0.3}, estimator)
    allowed = evaluate(log, {"a": 0.4, "b": 0.3, "c": 0.3}, max_unsupported=0.3)
    assert any("no support" in caution for caution in allowed.cautions)
    with pytest.raises(ValueError, match=r"0.3 of its probability on new: neither shown nor"):
        evaluate(log, {"a": 0.7, "new": 0.3})
    with pytest.raises(ValueError, match=r"0.3 of its probability on 3"):
        evaluate(log_of([0, 1, 2], [1, 0, 1], [0.4] * 3), [0.4, 0.2, 0.1, 0.3])


def test_certain_decisions_say_nothing_of_the_others() -> None:
    """Every arm is shown somewhere, but always with probability 1."""
    log = log_of([0, 1] * 50, [1, 0] * 50, [1.0] * 100)
    with pytest.raises(ValueError, match=r"not 0.5 of its probability .* could not have"):
        evaluate(log, [0.5, 0.5])


def test_logged_probabilities_of_zero_are_known_to_lack_support() -> None:
    own = [[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]
    log = log_of([0, 2], [1, 0], [0.5, 0.5], probabilities=own, names=("a", "b", "c"))
    found = evaluate(log, [0.4, 0.4, 0.2], max_unsupported=1)
    # b is never shown: both of its 0.4; c has 0 in the first of the two decisions
    assert found.diagnostics.unsupported == pytest.approx(0.4 + 0.2 / 2)


def test_propensities_made_up_from_scores_are_noticed() -> None:
    """The best score is always shown, and its softmax share is logged (SERVING.md 4.4)."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5000, 5))
    arms = scores.argmax(axis=1)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rewards = rng.random(5000) < 0.3
    log = log_of(arms, rewards, shares[np.arange(5000), arms])
    found = evaluate(log, Uniform(), "ips")
    assert any("not those the arms were drawn with" in caution for caution in found.cautions)
    drawn = np.array([rng.choice(5, p=row) for row in shares])
    honest = evaluate(log_of(drawn, rewards, shares[np.arange(5000), drawn]), Uniform(), "ips")
    assert not honest.cautions
    assert honest.low < 0.3 < honest.high


def test_clipping_is_reported() -> None:
    log = log_of([0, 1, 0, 1], [1, 1, 1, 1], [0.1, 0.9, 0.5, 0.5])
    found = evaluate(log, [0.5, 0.5], "ips", clip=2)
    weights = np.array([5, 5 / 9, 1, 1])
    assert found.diagnostics.clipped == pytest.approx(3 / weights.sum())
    assert found.reward == pytest.approx(np.minimum(weights, 2).mean())
    assert found.diagnostics.largest_weight == pytest.approx(5)
    with pytest.raises(ValueError, match="clip must be left out of 'dm'"):
        evaluate(log, [0.5, 0.5], "dm", clip=2)


# Refusals


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"arms": [0, 5], "names": (0, 1)}, "arms must be from 0 to 1, not 5"),
        ({"arms": ["a", "b"]}, "arms must be whole numbers .* names"),
        ({"arms": []}, "whole numbers"),
        ({"rewards": [1, math.nan]}, "rewards must be finite, not nan at"),
        ({"rewards": [1]}, "rewards must have shape"),
        ({"propensities": [0.5, 1.5]}, "at most 1, not 1.5 at 1"),
        ({"candidates": [[0, 0], [0, 1]]}, "candidates must be distinct"),
        ({"candidates": [[0, 1], [0, -1]]}, "the arm shown too"),
        ({"candidates": [[0, 1]]}, "candidates must be as many as decisions"),
        ({"contexts": [[1.0]]}, "contexts must have shape"),
        ({"units": [1]}, "units must be as many as decisions"),
        ({"probabilities": [[0.5, 0.5], [0.9, 0.1]]}, "be the propensity at the arm shown"),
    ],
)
def test_a_log_that_cannot_be_is_refused(fields: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"arms": [0, 1], "rewards": [1, 0], "propensities": [0.5, 0.5]}
    with pytest.raises(ValueError, match=message):
        Logged(**(given | fields))


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        ([0.5, 0.6], {}, "not negative and sum to 1"),
        ([-0.5, 1.5], {}, "not negative and sum to 1"),
        ([math.nan, 1], {}, "must be finite"),
        ([1.0], {}, "as many as the 2 arms of the log, not 1: or give a mapping"),
        (np.ones((3, 2)) / 2, {}, "one row for each of the 4 decisions, not 3"),
        (np.ones((4, 2)), {}, "sum to 1 .* at decision 0"),
        (lambda contexts: contexts, {}, "contexts must be in the log"),
        ([0.5, 0.5], {"estimator": "best"}, "estimator must be one of ips, snips, dm, dr, stab"),
        ([0.5, 0.5], {"interval": "wide"}, "interval must be one of"),
        ([0.5, 0.5], {"interval": "sequence"}, "weight_bound must be given for .* 'snips'"),
        (
            [0.5, 0.5],
            {"interval": "sequence", "estimator": "dm"},
            "asked of ips, snips, dr, not 'dm'",
        ),
        ([0.5, 0.5], {"interval": "sequence", "clip": 2}, "clip must be left out of the sequence"),
        ([0.5, 0.5], {"weight_bound": 2}, "weight_bound must be left out of interval='normal'"),
        ([0.5, 0.5], {"state": ()}, "state must be left out, not tuple: only a policy of fairx"),
        ([0.5, 0.5], {"reward_range": (0, 1)}, "rewards must be from 0 to 1, not"),
        (lambda contexts: contexts, {"state": 1}, "state must be left out, not int"),
        ([0.5, 0.5], {"estimator": "stabilised"}, "the log must have probabilities of all"),
        ([0.5, 0.5], {"interval": "bootstrap"}, "seed .the bootstrap draws at random. must be"),
        ([0.5, 0.5], {"alpha": 0.0}, "alpha must be a number from 1e-12 to 0.5"),
        ([0.5, 0.5], {"estimator": "replay"}, "uniform over the candidates for replay"),
        ([0.5, 0.5], {"estimator": "ips", "interval": "sequence"}, "rewards must be from 0 to 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    policy: Any, options: dict[str, Any], message: str
) -> None:
    log = log_of([0, 1, 0, 1], [1, 2, 0, 1], [0.5, 0.5, 0.4, 0.6])
    with pytest.raises(ValueError, match=message):
        evaluate(log, policy, **options)


def test_without_any_weight_there_is_nothing_to_divide_by() -> None:
    log = log_of([0, 0], [1, 0], [0.5, 0.5], names=(0, 1))
    with pytest.raises(ValueError, match="not none of them"):
        evaluate(log, [0.0, 1.0], "snips", max_unsupported=1)


def test_one_decision_has_no_interval() -> None:
    with pytest.raises(ValueError, match=r"the number of units .* at least 2, not 1"):
        evaluate(log_of([0], [1], [1.0]), [1.0])


# Confidence sequences


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(st.floats(0, 1000), min_size=1, max_size=6),
    guess=st.floats(0, 1),
    seed=SEEDS,
)
def test_no_bet_gains_on_average(values: list[float], guess: float, seed: int) -> None:
    """E exp(b (x - E x) - c(b) (x - guess)^2) <= 1 for all x >= 0, however large."""
    chances = np.random.default_rng(seed).dirichlet(np.ones(len(values)))
    x = np.array(values)
    for bet, cost in zip(sequences.BETS, sequences.COSTS, strict=True):
        powers = bet * (x - chances @ x) - cost * (x - guess) ** 2
        assert float(chances @ np.exp(powers)) <= 1 + 1e-9


@settings(max_examples=50, deadline=None)
@given(spread=st.floats(0, 1e7), error=st.floats(1e-6, 0.4))
def test_the_boundary_is_where_the_average_bet_is_reached(spread: float, error: float) -> None:
    found = float(sequences.boundary(np.array([spread]), error)[0])
    powers = sequences.ODDS + sequences.BETS * found - sequences.COSTS * spread
    top = powers.max()
    assert top + math.log(np.exp(powers - top).sum()) == pytest.approx(
        math.log(1 / error), abs=1e-8
    )
    assert float(np.exp(sequences.ODDS).sum()) == pytest.approx(1)


def test_sequences_are_mirrored_and_scaled() -> None:
    rng = np.random.default_rng(0)
    weights, rewards = rng.exponential(size=500), rng.random(500)
    one = confidence_sequence(weights, rewards)
    other = confidence_sequence(weights, 1 - rewards)
    assert other.lows == pytest.approx(1 - one.highs, abs=1e-9)
    scaled = confidence_sequence(weights, 10 * rewards - 3, reward_range=(-3, 7))
    assert scaled.lows == pytest.approx(10 * one.lows - 3, abs=1e-9)
    assert one.decisions[0] == 1
    assert one.decisions[-1] == 500
    assert (one.highs - one.lows)[-1] < (one.highs - one.lows)[100]


def test_a_bound_on_weights_helps_where_rewards_are_rare() -> None:
    rng = np.random.default_rng(0)
    arms = rng.integers(20, size=50_000)
    weights, rewards = 20.0 * (arms == 0), rng.random(50_000) < 0.03
    free = confidence_sequence(weights, rewards, looks=[50_000])
    bound = confidence_sequence(weights, rewards, weight_bound=20, looks=[50_000])
    assert bound.lows == pytest.approx(free.lows)
    assert bound.highs[0] < 0.6 * free.highs[0]
    assert bound.highs[0] > 0.03
    with pytest.raises(ValueError, match="weight_bound must be at least 20"):
        confidence_sequence(weights, rewards, weight_bound=10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"looks": [0]}, "looks must be from 1 to 3"),
        ({"looks": [4]}, "looks must be from 1 to 3"),
        ({"looks": []}, "looks must be a list"),
        ({"reward_range": (1, 0)}, "reward_range must rise"),
    ],
)
def test_sequences_refuse(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        confidence_sequence(np.ones(3), np.ones(3), **options)


def test_levels_are_chances_of_error_by_their_old_name() -> None:
    log = made_log(1, 40, 3)
    new = evaluate(log, Uniform(), alpha=0.1, max_unsupported=1)
    assert 1 - new.alpha == new.level == new.to_dict()["level"]
    with pytest.warns(DeprecationWarning, match="level= is now alpha=, which is 1 - level"):
        old = evaluate(log, Uniform(), level=0.9, max_unsupported=1)
    assert (old.low, old.high, old.alpha) == pytest.approx((new.low, new.high, 0.1))
    ones = np.ones(40)
    with pytest.warns(DeprecationWarning, match="level= is now alpha="):
        before = confidence_sequence(ones, ones, level=0.9)
    assert before.lows == pytest.approx(confidence_sequence(ones, ones, alpha=0.1).lows)
    with pytest.raises(ValueError, match=r"alpha must be a number from 1e-12 to 0.5, not 0.9"):
        confidence_sequence(ones, ones, 0.9)
    assert log.slots().tolist() == log.all_candidates().tolist()


# Tables


def test_a_table_is_the_same_as_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    log = made_log(7, 50, 4, pools=True, width=2)
    log = log._replace(units=np.arange(50) // 3)
    slots = [[f"arm {arm}" for arm in row if arm >= 0] for row in log.all_candidates()]
    frame = pd.DataFrame(
        {
            "item": [f"arm {arm}" for arm in log.arms],
            "reward": log.rewards,
            "propensity": log.propensities,
            "candidates": slots,
            "context": list(np.asarray(log.contexts)),
            "user": [f"user {unit}" for unit in np.arange(50) // 3],
        }
    )
    columns = {"arm": "item", "unit": "user"}
    wanted = evaluate(log, OptimalFair(Exponential(1), [0, 1, 2, 3]), "dr", max_unsupported=1)
    monkeypatch.setattr(reading, "PIECE", 7)  # lists of several batches, of different lengths
    for table in (frame, pa.table(frame), pa.table(frame.astype({"item": "category"}))):
        found = evaluate(
            from_table(table, columns), OptimalFair(Exponential(1), [0, 1, 2, 3]), "dr",
            max_unsupported=1,
        )  # fmt: skip
        assert (found.reward, found.low, found.high) == pytest.approx(
            (wanted.reward, wanted.low, wanted.high), abs=1e-12
        )
        assert found.names == ("arm 0", "arm 1", "arm 2", "arm 3")


def test_gaps_in_a_table_are_counted_and_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    columns = {"arm": [0, 1, 0], "reward": [1.0, None, 0.0], "propensity": [0.5] * 3}
    with pytest.raises(ValueError, match="reward must be given, not missing in 1 of 3 decisions"):
        from_table(pa.table(columns))
    filled = from_table(pa.table(columns), missing=0)
    assert mean_rewards(filled).tolist() == [0.5, 0.0]
    with pytest.raises(ValueError, match="propensity must be given, not missing in 1 of 3"):
        from_table(pa.table(columns | {"reward": [1, 0, 1], "propensity": [0.5, None, 0.5]}))
    empty = pa.table(columns | {"reward": [1, 0, 1], "context": pa.array([None] * 3, "f8")})
    assert "context" not in from_table(empty).columns
    with pytest.raises(ValueError, match="reward must be a column of arm"):
        from_table(pa.table({"arm": [1]}))
    with pytest.raises(ValueError, match="columns must be among arm, reward"):
        from_table(pa.table(columns), {"arms": "arm"})
    with pytest.raises(ValueError, match="number of decisions"):
        from_table(pa.table({name: pa.array([], "f8") for name in columns}))
    with pytest.raises(TypeError, match="speaks Arrow, not list"):
        evaluate([1, 2], [1.0])


def test_contexts_have_one_length() -> None:
    pa = pytest.importorskip("pyarrow")
    columns = {"arm": [0, 1], "reward": [1, 0], "propensity": [0.5, 0.5]}
    table = pa.table(columns | {"context": [[1.0], [1.0, 2.0]]})
    with pytest.raises(ValueError, match="context must have one length, not 1 to 2"):
        list(from_table(table).pieces())


def test_a_log_is_put_in_order_and_its_problems_are_told() -> None:
    pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    from fairx import logs

    table = {
        "arm": ["b", "a", "a", "b", "a"],
        "reward": [1.0, 0.0, 1.0, 1.0, 0.0],
        "propensity": [0.75, 0.25, 0.25, 7.0, 0.25],
        "candidates": [["a", "b"]] * 5,
        "probabilities": [[0.25, 0.75]] * 5,
        "time": [3, 1, 2, 5, 0],
    }
    log = logs.read(pa.table(table))
    (piece,) = from_table(log).pieces()
    assert piece.arms.tolist() == [0, 0, 0, 1]
    assert piece.rewards.tolist() == [0, 0, 1, 1]
    found = evaluate(log, {"a": 0.25, "b": 0.75}, "ips")
    assert found.reward == pytest.approx(0.5)
    assert [caution for caution in found.cautions if "left out" in caution]


def test_arms_that_no_row_names_can_be_named() -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"arm": ["a", "b"], "reward": [1, 0], "propensity": [0.5, 0.5]})
    named = from_table(table, names=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"support in the log, not 0.333"):
        evaluate(named, Uniform())
    with pytest.raises(ValueError, match="arm must be one of names, not b"):
        evaluate(from_table(table, names=["a", "c"]), Uniform())


def test_a_log_is_split_by_time() -> None:
    log = made_log(8, 50)
    first, rest = split(log, 0.3)
    found = evaluate(rest, Uniform(), max_unsupported=1)
    assert found.reward == evaluate(logged.part(log, slice(15, 50)), Uniform()).reward
    assert mean_rewards(first) == pytest.approx(mean_rewards(logged.part(log, slice(0, 15))))
    with pytest.raises(ValueError, match="share must leave some of 50 decisions"):
        split(log, 0.001)


def test_pieces_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    log = made_log(9, 100, pools=True, width=2)
    policy = random_target(log, 9)
    whole = [evaluate(log, policy, estimator) for estimator in WEIGHTED]
    monkeypatch.setattr(logged, "PIECE", 13)
    for one, estimator in zip(whole, WEIGHTED, strict=True):
        again = evaluate(log, policy, estimator)
        assert (again.reward, again.low) == pytest.approx((one.reward, one.low), abs=1e-12)


def rounded_log(total: float) -> dict[str, list[Any]]:
    """Return columns of a log whose probabilities sum to `total`."""
    rows = [[0.5, 0.3, total - 0.8]] * 4
    return {
        "arm": ["a", "b", "c", "a"],
        "candidates": [["a", "b", "c"]] * 4,
        "probabilities": rows,
        "propensity": [0.5, 0.3, total - 0.8, 0.5],
        "reward": [1.0, 0.0, 1.0, 0.0],
    }


@pytest.mark.parametrize("total", [1.00005, 0.99995, 1.0001, 0.9999, 1.001, 0.999])
def test_what_the_log_takes_for_rounding_is_evaluated(total: float) -> None:
    pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    log = logs.read(pa.table(rounded_log(total)), strict=True)
    assert evaluate(log, {"a": 0.5, "b": 0.5}, "ips").decisions == 4


@pytest.mark.parametrize("total", [1.0011, 0.9989])
def test_what_the_log_takes_for_a_mistake_is_refused(total: float) -> None:
    pytest.importorskip("duckdb")
    pa = pytest.importorskip("pyarrow")
    table = pa.table(rounded_log(total))
    assert logs.read(table).problems() == {"probabilities not a distribution": 4}
    with pytest.raises(ValueError, match="probabilities must be not negative, sum to 1"):
        evaluate(from_table(table), {"a": 0.5, "b": 0.5})


# The command


def run(arguments: list[str]) -> int:
    from fairx.command.main import parser

    options = parser().parse_args(["evaluate", *arguments])
    status: int = options.run(options)
    return status


@pytest.fixture
def csv_log(tmp_path: Path) -> Path:
    pytest.importorskip("duckdb")
    rng = np.random.default_rng(0)
    arms = rng.integers(2, size=400)
    rewards = (rng.random(400) < 0.2 + 0.5 * arms).astype(int)
    rows = [f"{'ab'[a]},{r},0.5,{t}" for t, (a, r) in enumerate(zip(arms, rewards, strict=True))]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["item,reward,propensity,time", *rows]) + "\n")
    return path


def test_the_command_prints_and_writes(
    csv_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "policy.csv").write_text("a,0.25\nb,0.75\n")
    (tmp_path / "policy.json").write_text('{"a": 0.25, "b": 0.75}')
    log, out = [str(csv_log), "--arm", "item", "--out", str(tmp_path / "out")], tmp_path / "out"
    found = []
    for policy in ("policy.csv", "policy.json"):
        assert run([*log, "--policy", str(tmp_path / policy), "--estimator", "ips"]) == 0
        found.append(json.loads((out / "evaluation.json").read_text()))
    assert found[0] | {"policy": ""} == found[1] | {"policy": ""}
    assert found[0]["arms"] == [{"arm": "a", "exposure": 0.25}, {"arm": "b", "exposure": 0.75}]
    assert found[0]["low"] < found[0]["reward"] < found[0]["high"]
    assert "reward per decision" in capsys.readouterr().out


def test_the_command_makes_a_fair_policy(csv_log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fair = [str(csv_log), "--arm", "item", "--policy", "fair:exponential:4"]
    assert run(fair) == 0
    assert "--split" in capsys.readouterr().out
    assert run([*fair, "--split", "0.5"]) == 0
    assert "--split" not in capsys.readouterr().out
    with pytest.raises(ValueError, match="--split must be left out for --policy uniform"):
        run([*fair, "--policy", "uniform", "--split", "0.5"])
    assert run([*fair, "--policy", "uniform"]) == 0
    capsys.readouterr()
    assert run([*fair, "--alpha", "0.1"]) == 0
    expected = capsys.readouterr().out
    assert run([*fair, "--level", "0.9"]) == 0
    with pytest.raises(ValueError, match="--level must be left out beside --alpha"):
        run([*fair, "--level", "0.9", "--alpha", "0.1"])
    assert capsys.readouterr().out == expected
    assert "(90 %: " in expected
    (csv_log.parent / "wrong.json").write_text("[1, 2]")
    with pytest.raises(ValueError, match="must hold arms and probabilities alone"):
        run([*fair, "--policy", str(csv_log.parent / "wrong.json")])
    for merit in ("affine:1,0.5", "power:1:0.5", "logistic:2,0.5", "piecewise:0=1,1=2"):
        assert run([*fair, "--policy", f"fair:{merit}"]) == 0
    with pytest.raises(ValueError, match="not 'powr': did you mean 'power'"):
        run([*fair, "--policy", "fair:powr:1"])
    with pytest.raises(ValueError, match="merit must be power:EXPONENT,OFFSET, not 'power:1'"):
        run([*fair, "--policy", "fair:power:1"])
