"""Intervals on synthetic truth: how often they hold the value of the policy.

An interval of a large log holds the value in 94 to 96 % of logs; of LOGS logs, the number is then
between two binomial quantiles but for a chance of ERROR on either side, which is the bound here.
`benchmarks/coverage_of_intervals.py` has the full statement.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from fairx import Exponential, fair_probabilities
from fairx.evaluation import Logged, confidence_sequence, evaluate

LOGS, ROWS, ERROR = 500, 1000, 1e-4
MEANS = np.array([0.1, 0.3, 0.5, 0.6])
LOGGING = np.array([0.4, 0.3, 0.2, 0.1])
FAIR = fair_probabilities(Exponential(4), MEANS)
LEAST = stats.binom.ppf(ERROR, LOGS, 0.94)
MOST = stats.binom.ppf(1 - ERROR, LOGS, 0.96)
Floats = np.ndarray[Any, Any]


def held(logs: list[Logged], truth: float, **options: Any) -> int:
    found = [evaluate(log, FAIR, **options) for log in logs]
    return sum(one.low <= truth <= one.high for one in found)


@pytest.fixture(scope="module")
def logs() -> list[Logged]:
    rng = np.random.default_rng(1)
    arms = rng.choice(4, p=LOGGING, size=(LOGS, ROWS))
    rewards = (rng.random(arms.shape) < MEANS[arms]).astype(float)
    return [Logged(a, r, LOGGING[a]) for a, r in zip(arms, rewards, strict=True)]


@pytest.mark.parametrize("estimator", ["ips", "snips", "dm", "dr", "replay"])
def test_normal_intervals_hold_as_often_as_they_say(logs: list[Logged], estimator: str) -> None:
    if estimator == "replay":
        rng = np.random.default_rng(2)
        arms = rng.integers(4, size=(LOGS, ROWS))
        rewards = (rng.random(arms.shape) < MEANS[arms]).astype(float)
        even = np.full(ROWS, 0.25)
        logs = [Logged(a, r, even) for a, r in zip(arms, rewards, strict=True)]
    seed = 1 if estimator == "replay" else None
    count = held(logs, float(FAIR @ MEANS), estimator=estimator, seed=seed)
    assert LEAST <= count <= MOST


def test_intervals_that_are_too_short_would_be_noticed(logs: list[Logged]) -> None:
    assert held(logs, float(FAIR @ MEANS), estimator="ips", alpha=0.15) < LEAST


def test_bootstrap_intervals_hold_as_often_as_they_say(logs: list[Logged]) -> None:
    options: dict[str, Any] = {"interval": "bootstrap", "resamples": 200, "seed": 3}
    assert LEAST <= held(logs, float(FAIR @ MEANS), estimator="snips", **options) <= MOST


def test_units_that_share_a_taste_need_intervals_by_unit() -> None:
    """Ten decisions of a user, who likes all arms more or less than others do."""
    rng = np.random.default_rng(4)
    arms = rng.choice(4, p=LOGGING, size=(LOGS, ROWS))
    tastes = np.repeat(rng.uniform(-0.1, 0.1, (LOGS, ROWS // 10)), 10, axis=1) * 4
    rewards = MEANS[arms] + tastes
    users = np.arange(ROWS) // 10
    by_user = [Logged(a, r, LOGGING[a], units=users) for a, r in zip(arms, rewards, strict=True)]
    truth = float(FAIR @ MEANS)
    assert LEAST <= held(by_user, truth, estimator="snips") <= MOST
    blind = [log._replace(units=None) for log in by_user]
    assert held(blind, truth, estimator="snips") < 0.8 * LOGS


def adaptive(logs: int, rows: int, seed: int, drift: float) -> tuple[Floats, Floats, Floats]:
    """Return weights, rewards and the value so far, of logs whose propensities learn.

    Each log shows arms in proportion to exp(4 x the mean reward so far), with a floor of 0.02.
    """
    rng = np.random.default_rng(seed)
    pulls, sums = np.ones((logs, 4)), np.full((logs, 4), 0.5)
    weights, rewards, values = np.empty((3, logs, rows))
    each = np.arange(logs)
    for row in range(rows):
        shares = np.exp(4 * sums / pulls)
        shares = 0.02 + 0.92 * shares / shares.sum(axis=1, keepdims=True)
        arms = (rng.random((logs, 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
        means = MEANS + drift * np.sin(row / 100)
        reward = rng.random(logs) < means[arms]
        weights[:, row], rewards[:, row] = FAIR[arms] / shares[each, arms], reward
        values[:, row] = FAIR @ means
        pulls[each, arms] += 1
        sums[each, arms] += reward
    return weights, rewards, np.cumsum(values, axis=1) / np.arange(1, rows + 1)


@pytest.mark.parametrize("drift", [0.0, 0.1])
@pytest.mark.parametrize("bound", [None, max(FAIR) / 0.02])
def test_sequences_hold_at_every_look_of_a_log_that_learns(
    drift: float, bound: float | None
) -> None:
    count, rows = 200, 1000
    weights, rewards, values = adaptive(count, rows, 5, drift)
    every = np.arange(1, rows + 1)
    missed = naive = 0
    for w, r, value in zip(weights, rewards, values, strict=True):
        found = confidence_sequence(w, r, weight_bound=bound)
        now = value[found.decisions - 1]
        missed += bool(((now < found.lows) | (now > found.highs)).any())
        means = np.cumsum(w * r) / every
        errors = np.sqrt(np.maximum(np.cumsum((w * r) ** 2) / every - means**2, 0) / every)
        naive += bool((np.abs(means - value) > 1.96 * errors)[100:].any())
    assert missed <= stats.binom.ppf(1 - ERROR, count, 0.05)
    assert naive > 0.25 * count  # looking all the time at intervals for one look


def test_sequences_hold_where_weights_are_cut_or_lack_support() -> None:
    """Clipped weights bias the estimate below the value; the interval still holds it."""
    weights, rewards, values = adaptive(100, 1000, 6, 0.0)
    missed = 0
    for w, r, value in zip(np.minimum(weights, 1.5), rewards, values, strict=True):
        found = confidence_sequence(w, r)
        missed += bool((value[0] < found.lows).any() or (value[0] > found.highs).any())
    assert missed <= stats.binom.ppf(1 - ERROR, 100, 0.05)
