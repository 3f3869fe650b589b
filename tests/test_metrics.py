"""Intervals against SciPy's, exponents against powers that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from fairx.report import metrics
from fairx.simulation import bands
from fairx.simulation.bands import t_quantile

RNG = np.random.default_rng(5)
FIRST, SECOND = RNG.normal(10, 2, 10), RNG.normal(4, 1, 7)


@pytest.mark.parametrize("alpha", [0.5, 0.1, 0.05, 0.001])
@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 55, 1000, 10**6])
def test_t_quantile(alpha: float, freedom: int) -> None:
    expected = stats.t.isf(alpha / 2, freedom)
    assert t_quantile(alpha, freedom) == pytest.approx(expected, rel=1e-10)


def test_a_level_is_not_taken_for_a_chance_of_error() -> None:
    with pytest.raises(ValueError, match=r"alpha must be a number from 0 to 0.5, not 0.95"):
        bands.mean_interval(FIRST, 0.95)


def test_mean_interval() -> None:
    expected = stats.ttest_1samp(FIRST, 0).confidence_interval(0.9)
    assert bands.mean_interval(FIRST, alpha=0.1) == pytest.approx((FIRST.mean(), *expected))


def test_difference_interval_is_that_of_welch_or_slightly_wider() -> None:
    expected = stats.ttest_ind(FIRST, SECOND, equal_var=False).confidence_interval(0.95)
    found = metrics.difference_interval(FIRST, SECOND)
    assert found.value == pytest.approx(FIRST.mean() - SECOND.mean())
    assert found.low <= expected.low
    assert found.high >= expected.high
    assert found.high - found.low < 1.02 * (expected.high - expected.low)


def test_a_constant_second_leaves_the_interval_of_the_first() -> None:
    found, alone = metrics.difference_interval(FIRST, [1.0] * 9), bands.mean_interval(FIRST)
    assert found == pytest.approx([end - 1 for end in alone])


def test_intervals_without_spread_are_points() -> None:
    assert metrics.difference_interval([2.0, 2.0], [1.0, 1.0]) == (1, 1, 1)
    assert bands.mean_interval([2.0, 2.0]) == (2, 2, 2)


def test_one_run_says_nothing_of_others() -> None:
    assert bands.mean_interval([2.0]) == (2, -math.inf, math.inf)
    assert metrics.difference_interval([2.0], [1.0, 3.0]) == (0, -math.inf, math.inf)


def test_many_at_once_are_as_each_alone() -> None:
    first, second = RNG.normal(10, 2, (4, 6)), RNG.normal(4, 1, (4, 9))
    means, differences = bands.mean_interval(first), metrics.difference_interval(first, second)
    for i in range(4):
        alone = bands.mean_interval(first[i])
        assert [end[i] for end in means] == pytest.approx(list(alone))
        both = metrics.difference_interval(first[i], second[i])
        assert [end[i] for end in differences] == pytest.approx(list(both))


@pytest.mark.parametrize("hits", range(11))
def test_share_interval_is_that_of_clopper_and_pearson(hits: int) -> None:
    expected = stats.binomtest(hits, 10).proportion_ci(0.99, "exact")
    assert metrics.share_interval(hits, 10, 0.01) == pytest.approx((hits / 10, *expected))


def test_jackknifed_values_are_those_of_leaving_out() -> None:
    first, second = RNG.normal(size=7), RNG.normal(size=7)
    pairs = metrics.distance_differences(first, second)
    assert pairs[2, 5] == pytest.approx(
        math.log(abs(first[2] - first[5]) / abs(second[2] - second[5]))
    )

    def mean_of_pairs(runs: list[int]) -> float:
        return float(np.mean([pairs[i, k] for i in runs for k in runs if i < k]))

    everyone = list(range(7))
    expected = [
        7 * mean_of_pairs(everyone) - 6 * mean_of_pairs([k for k in everyone if k != i])
        for i in everyone
    ]
    assert metrics.jackknifed(pairs) == pytest.approx(expected)


@pytest.mark.parametrize("spacing", [np.linspace, np.geomspace])
def test_growth_exponents_look_at_the_last_decades_only(spacing: object) -> None:
    rounds = np.unique(spacing(1, 10_000, 300).astype(int))  # type: ignore[operator]
    root = np.sqrt(rounds)
    bent = np.where(rounds < 1000, rounds, 1000 * np.sqrt(rounds / 1000))
    assert metrics.growth_exponents(rounds, [root, 5 * root, bent]) == pytest.approx([0.5] * 3)
    both = metrics.growth_exponents(rounds, bent[None], decades=4)
    assert 0.6 < both[0] < 0.99


def test_growth_exponents_do_not_depend_on_how_dense_the_marks_are() -> None:
    early, late = np.linspace(1000, 3000, 20), np.linspace(3100, 10_000, 20)
    dense = np.concatenate([early, np.linspace(3100, 10_000, 400)])

    def bent(rounds: np.ndarray[tuple[int], np.dtype[np.float64]]) -> object:
        return [np.where(rounds < 3050, rounds, 3050 * np.sqrt(rounds / 3050))]

    few = np.concatenate([early, late])
    found = [metrics.growth_exponents(rounds, bent(rounds))[0] for rounds in (few, dense)]  # type: ignore[arg-type]
    assert found[0] == pytest.approx(found[1], abs=0.01)


def test_growth_exponents_refuse() -> None:
    with pytest.raises(ValueError, match="regret must be positive to fit, not 0"):
        metrics.growth_exponents([10, 20], [[0.0, 1.0]])
    with pytest.raises(ValueError, match="two marks or more"):
        metrics.growth_exponents([1, 20], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="regret must have shape"):
        metrics.growth_exponents([10, 20], [1.0, 2.0])


def test_distance_of_all_on_one_arm() -> None:
    fair = [0.5, 0.25, 0.25]
    assert metrics.distance(np.array([[0, 0, 1], fair]), fair) == pytest.approx([1.5, 0])


def test_no_runs_at_all() -> None:
    with pytest.raises(ValueError, match="the number of values must be"):
        bands.mean_interval([])
