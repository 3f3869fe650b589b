"""Evaluation of pages: against sums that are written out, and on synthetic truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairx import Bandit, Exponential, Logged, OptimalFair, evaluate, fair_exposure
from fairx import logs as decision_logs
from fairx.evaluation import LoggedSlates, evaluate_slates, slates_of
from fairx.slates import slate_propensities

ARMS, WEIGHTS = 5, np.array([1.0, 0.6, 0.5])
MEANS = np.array([0.2, 0.3, 0.4, 0.5, 0.7])
BY_PLACE = MEANS[:, None] * np.array([1.0, 0.8, 0.5])  # a reward depends on arm and place
SHIFTS = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
LOGGING = np.array([[SHIFTS[(arm - place) % ARMS] for place in range(3)] for arm in range(ARMS)])
TARGET = slate_propensities(fair_exposure(Exponential(2), MEANS, WEIGHTS), WEIGHTS)
TRUTH = float((TARGET * BY_PLACE).sum())
LOGS, ROWS, ERROR = 300, 400, 1e-4
LEAST = stats.binom.ppf(ERROR, LOGS, 0.935)
MOST = stats.binom.ppf(1 - ERROR, LOGS, 0.965)
Floats = np.ndarray[Any, Any]


def drawn(rows: int, rng: np.random.Generator) -> LoggedSlates:
    """Arms in a circle, turned at random; a visitor's taste shifts all rewards of a page."""
    arms = (rng.choice(ARMS, p=SHIFTS, size=rows)[:, None] + np.arange(3)) % ARMS
    taste = rng.uniform(-0.15, 0.15, size=(rows, 1))
    rewards = (rng.random(arms.shape) < BY_PLACE[arms, np.arange(3)] + taste).astype(float)
    return LoggedSlates(arms, rewards, LOGGING[arms, np.arange(3)], weights=WEIGHTS)


@pytest.fixture(scope="module")
def logs() -> list[LoggedSlates]:
    rng = np.random.default_rng(1)
    return [drawn(ROWS, rng) for _ in range(LOGS)]


def test_sums_that_are_written_out() -> None:
    log, total, weight = drawn(50, np.random.default_rng(2)), 0.0, 0.0
    for decision in range(50):
        for place in range(3):
            arm = log.arms[decision, place]
            ratio = TARGET[arm, place] / LOGGING[arm, place]
            total, weight = total + ratio * log.rewards[decision, place], weight + ratio
    assert evaluate_slates(log, TARGET, "ips").reward == pytest.approx(total / 50, rel=1e-12)
    assert evaluate_slates(log, TARGET, "snips").reward == pytest.approx(3 * total / weight)
    exposures = evaluate_slates(log, TARGET, "dr").exposures
    np.testing.assert_allclose(exposures, TARGET @ WEIGHTS, rtol=1e-12)


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_one_place_is_a_decision(estimator: str) -> None:
    rng = np.random.default_rng(3)
    arms, contexts = rng.choice(ARMS, p=SHIFTS, size=800), rng.normal(size=(800, 2))
    rewards = (rng.random(800) < MEANS[arms]).astype(float)
    one = Logged(arms, rewards, SHIFTS[arms], contexts=contexts)
    column = np.s_[:, None]
    page = LoggedSlates(arms[column], rewards[column], SHIFTS[arms][column], contexts=contexts)
    wanted = np.full(ARMS, 1 / ARMS)
    expected = evaluate(one, wanted, estimator)
    found = evaluate_slates(page, wanted[:, None], estimator)
    assert found.reward == pytest.approx(expected.reward, rel=1e-12)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.diagnostics == pytest.approx(expected.diagnostics, rel=1e-9)
    np.testing.assert_allclose(found.exposures, expected.exposures)


@pytest.mark.parametrize("estimator", ["ips", "snips", "dr"])
def test_intervals_hold_as_often_as_they_say(logs: list[LoggedSlates], estimator: str) -> None:
    """Of 300 logs, between binomial quantiles of 93.5 and 96.5 %, but for 1e-4 on either side."""
    found = [evaluate_slates(log, TARGET, estimator) for log in logs]
    withheld = sum(bool(one.withheld) for one in found)
    assert withheld < 0.05 * LOGS
    assert withheld + sum(one.low <= TRUTH <= one.high for one in found) >= LEAST
    assert sum(one.low <= TRUTH <= one.high for one in found) <= MOST
    rewards = np.array([one.reward for one in found])
    assert abs(rewards.mean() - TRUTH) < 5 * rewards.std() / np.sqrt(LOGS)


def test_intervals_are_by_decision(logs: list[LoggedSlates]) -> None:
    """Where all places of a page bring the same, intervals by place would be too short, by sqrt 3."""
    truth, held, blind = 3 * float(LOGGING[:, 0] @ BY_PLACE[:, 0]), 0, 0
    for log in logs:
        same = log._replace(rewards=np.repeat(log.rewards[:, :1], 3, axis=1))
        found = evaluate_slates(same, LOGGING, "ips")
        held += found.low <= truth <= found.high
        blind += abs(found.reward - truth) <= (found.high - found.reward) / np.sqrt(3)
    assert LEAST <= held <= MOST
    assert blind < LEAST


def test_a_policy_is_drawn_as_a_bandit_draws() -> None:
    """The same table as its exposures have; arms that are not there have no chance."""
    log, policy = drawn(100, np.random.default_rng(4)), OptimalFair(Exponential(2), MEANS)
    expected = evaluate_slates(log, TARGET, "ips")
    shares = np.exp(2 * MEANS) / np.exp(2 * MEANS).sum()
    for wanted in (policy, shares, dict(enumerate(shares))):
        found = evaluate_slates(log, wanted, "ips", seed=1, draws=2)
        assert found.reward == pytest.approx(expected.reward, rel=1e-9)
        np.testing.assert_allclose(found.exposures, expected.exposures, rtol=1e-9)
    some = log._replace(candidates=np.tile([4, 3, 2, 1, 0, -1], (100, 1)))
    again = evaluate_slates(some, policy, "dr", seed=1, draws=2)
    np.testing.assert_allclose(again.exposures, expected.exposures, rtol=1e-9)


def test_a_log_of_a_bandit_is_evaluated(tmp_path: Path) -> None:
    """The bandit's own law, by its propensities: the estimate is the mean of what was earned."""
    policy = OptimalFair(Exponential(2), MEANS)
    bandit, rng, earned = Bandit(policy, arms=list("abcde"), seed=3), np.random.default_rng(5), 0.0
    with decision_logs.Appender(tmp_path / "log.jsonl") as file:
        for i in range(300):
            slate = bandit.act(weights=WEIGHTS if i % 3 else [1, 0.5])
            means = BY_PLACE["abcde".index(slate.arms[0]), 0], *(0.5,) * (len(slate.arms) - 1)
            rewards = (rng.random(len(slate.arms)) < means).astype(float)
            earned += rewards.sum()
            file.append(slate, rewards.tolist(), time=float(i))
    log = slates_of(decision_logs.read(tmp_path / "log.jsonl", strict=True))
    assert log.names == tuple("abcde")
    assert log.arms.shape == (300, 3)
    assert log.places_used().tolist()[:4] == [2, 3, 3, 2]
    found = evaluate_slates(log, policy, "ips", seed=1, draws=2)
    assert found.diagnostics.mean_weight == pytest.approx(1, rel=1e-9)
    assert found.reward == pytest.approx(earned / 300, rel=1e-9)


def test_rows_that_stand_alone() -> None:
    """The shape of the Open Bandit data: no decisions; the value is per row."""
    rng = np.random.default_rng(6)
    places, arms = rng.integers(3, size=400), rng.integers(ARMS, size=400)
    rewards = (rng.random(400) < BY_PLACE[arms, places]).astype(float)
    columns = {"item_id": arms, "position": places + 1, "click": rewards, "propensity_score": 0.2}
    names = {
        "arm": "item_id",
        "place": "position",
        "reward": "click",
        "propensity": "propensity_score",
    }
    log = slates_of(decision_logs.read(pd.DataFrame(columns), names))
    expected = np.mean(TARGET[arms, places] / 0.2 * rewards)
    assert evaluate_slates(log, TARGET, "ips").reward == pytest.approx(expected, rel=1e-12)
    with pytest.raises(
        ValueError, match=r"no column 'place', it is of slates: use evaluate_slates"
    ):
        evaluate(decision_logs.read(pd.DataFrame(columns), names), np.full(ARMS, 0.2))


@pytest.mark.parametrize(
    ("wanted", "options", "message"),
    [
        (
            TARGET,
            {"estimator": "dm"},
            "estimator must be one of ips, snips, dr for slates, not 'dm'",
        ),
        (TARGET, {"interval": "sequence"}, "interval must be one of normal, bootstrap for slates"),
        (TARGET[:, :2], {}, r"must have shape \(5, 3\)"),
        (TARGET * 0.9, {}, "sum to 1 at each place .* at decision 0, place 1"),
        (np.full(ARMS, 0.2), {}, "seed .* must be a whole number"),
    ],
)
def test_refusals(wanted: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate_slates(drawn(20, np.random.default_rng(7)), wanted, **options)


def test_an_arm_never_at_a_place_is_not_supported() -> None:
    log = drawn(200, np.random.default_rng(8))
    never = log.arms[:, 0] != 4
    some = LoggedSlates(
        log.arms[never], log.rewards[never], log.propensities[never], weights=WEIGHTS
    )
    with pytest.raises(ValueError, match=r"support in the log, not .* where the log never shows"):
        evaluate_slates(some, TARGET)
    bad = {"arms": [[0, 0]], "rewards": [[1, 1]], "propensities": [[0.5, 0.5]]}
    with pytest.raises(ValueError, match="arms must be distinct on a page"):
        LoggedSlates(**bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="propensities must be above 0"):
        LoggedSlates(**bad | {"arms": [[0, 1]], "propensities": [[0.5, 0.0]]})  # type: ignore[arg-type]


def test_a_log_that_was_not_read() -> None:
    with pytest.raises(TypeError, match="log must be LoggedSlates, not dict: read it by slates_of"):
        evaluate_slates({}, {}, seed=1)
