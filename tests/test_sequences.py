"""Intervals that hold at every look."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import betaln, xlogy

from fairx.auditing.always_valid import RATES, always_valid

LOOKS = np.unique(np.geomspace(1, 1500, 40).astype(int))


def evidence(average: float, total: float, count: float) -> float:
    """Return the mean bet against an average, one rate after another."""
    weights = [1 / (k + 1) for k in range(len(RATES))] * 2
    rates = [*RATES, *-RATES]
    bets = (
        weight / sum(weights) * math.exp(rate * total - count * math.log1p(average * math.expm1(rate)))
        for weight, rate in zip(weights, rates, strict=True)
    )  # fmt: skip
    return sum(bets)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 60), st.floats(0, 1), st.sampled_from([0.3, 0.05, 0.001]))
def test_the_ends_are_where_the_evidence_reaches_the_limit(
    count: int, mean: float, alpha: float
) -> None:
    """The slow oracle: walk along all averages, 1/1000 apart."""
    total = mean * count
    box = always_valid([total], [count], alpha)
    inside = [m for m in np.linspace(0.0005, 0.9995, 1000) if evidence(m, total, count) < 1 / alpha]
    assert box.low[0] == pytest.approx(min(inside), abs=0.0015)
    assert box.high[0] == pytest.approx(max(inside), abs=0.0015)


@settings(deadline=None)
@given(st.integers(1, 10**9), st.floats(0, 1))
def test_an_interval_holds_the_mean_and_mirrors(count: int, mean: float) -> None:
    box = always_valid([mean * count, count - mean * count], [count, count], 0.05)
    assert 0 <= box.low[0] <= mean * (1 + 1e-12)
    assert mean * (1 - 1e-12) <= box.high[0] <= 1
    assert box.low[0] == pytest.approx(1 - box.high[1], abs=1e-9)
    wider = always_valid([mean * count], [count], 0.01)
    assert wider.low[0] <= box.low[0] + 1e-12
    assert wider.high[0] >= box.high[0] - 1e-12


def test_no_values_say_nothing() -> None:
    box = always_valid([0.0], [0], 0.05, low=-2, high=3)
    assert (box.low[0], box.high[0]) == (-2, 3)


def test_values_of_another_range_are_scaled() -> None:
    unit, other = always_valid([30], [100], 0.05), always_valid([30 * 4 - 100], [100], 0.05, -1, 3)
    assert other.low[0] == pytest.approx(4 * unit.low[0] - 1)
    assert other.high[0] == pytest.approx(4 * unit.high[0] - 1)


@pytest.mark.parametrize("kind", ["constant", "drifting", "adaptive"])
def test_the_average_mean_is_inside_at_all_looks(kind: str) -> None:
    """Of R runs at most Binomial(R, alpha) leave at any look: 1e-6 quantile of that."""
    runs, alpha, rng = 400, 0.1, np.random.default_rng(5)
    mean, summed, expected = np.full(runs, 0.2), np.zeros(runs), np.zeros(runs)
    left = np.zeros(runs, bool)
    for i in range(1, LOOKS[-1] + 1):
        if kind == "drifting":
            mean = np.full(runs, 0.5 + 0.45 * math.sin(i / 100))
        if kind == "adaptive":  # chase what makes the sample mean move away
            mean = np.where(summed > expected, 0.6, 0.1)
        expected += mean
        summed += rng.random(runs) < mean
        if i in LOOKS:
            box = always_valid(summed, np.full(runs, i), alpha)
            left |= (expected / i < box.low) | (expected / i > box.high)
    assert left.sum() <= stats.binom.ppf(1 - 1e-6, runs, alpha)


@pytest.mark.parametrize("count", [20, 50, 100, 200, 500, 1000, 10_000, 1_000_000])
@pytest.mark.parametrize("mean", [0.01, 0.1, 0.5, 0.9])
def test_it_is_about_as_wide_as_the_beta_binomial_mixture(count: int, mean: float) -> None:
    """That is the usual one for a mean that stays: root of mixture / likelihood = 1 / alpha."""
    alpha, total = 0.005, mean * count

    def against(m: float) -> float:
        bet = betaln(total + 0.5, count - total + 0.5) - betaln(0.5, 0.5)
        return float(bet - xlogy(total, m) - xlogy(count - total, 1 - m) - math.log(1 / alpha))

    ends = []
    for end in (0.0, 1.0):
        inside, outside = mean, end
        for _ in range(60):
            half = (inside + outside) / 2
            inside, outside = (half, outside) if against(half) < 0 else (inside, half)
        ends.append(inside)
    box = always_valid([total], [count], alpha)
    limit = 1.08 if count < 10_000 else 1.0
    assert box.high[0] - box.low[0] <= limit * (ends[1] - ends[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [2.0, 3.0], 0.05), "sums must have shape"),
        (([3.0], [2.0], 0.05), "sums must be of values from 0 to 1"),
        (([-1.0], [2.0], 0.05), "sums must be of values from 0 to 1"),
        (([math.nan], [2.0], 0.05), "sums must be finite"),
        (([1.0], [2.0], 1.0), "alpha must be between 0 and 1"),
        (([1.0], [2.0], 0.05, 1.0, 1.0), "high - low must be positive"),
    ],
)
def test_nonsense_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        always_valid(*arguments)  # type: ignore[arg-type]
