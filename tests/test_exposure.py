from __future__ import annotations

from typing import Any

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import floats, means, merits

from fairx import Affine, Exponential, fair_probabilities
from fairx.exposure import choose, choose_by_sums, uphill, value


@given(merits(), means())
def test_exposure_is_in_proportion_to_merit(merit: Any, values: list[float]) -> None:
    np.testing.assert_allclose(
        fair_probabilities(merit, values), oracles.fair(merit, values), atol=1e-13
    )


@given(floats(0, 1000), means(), floats(-5, 5))
def test_exponential_merit_ignores_a_shift(
    steepness: float, values: list[float], shift: float
) -> None:
    merit = Exponential(steepness)
    moved = fair_probabilities(merit, np.array(values) + shift)
    np.testing.assert_allclose(moved, fair_probabilities(merit, values), atol=1e-9)


@given(means(), floats(0.1, 3), floats(3, 9), floats(0.5, 20))
def test_any_merit_ignores_its_scale(
    values: list[float], slope: float, level: float, scale: float
) -> None:
    plain, scaled = Affine(slope, level), Affine(slope * scale, level * scale)
    np.testing.assert_allclose(
        fair_probabilities(scaled, values), fair_probabilities(plain, values), atol=1e-12
    )


@given(merits(), means(most=6))
def test_the_gradient_is_that_of_the_value(merit: Any, values: list[float]) -> None:
    point = np.array(values)
    if hasattr(merit, "knots"):  # stay away from the kinks
        point = point + 1e-3 * np.sqrt(2)
        if np.abs(point[:, None] - np.array(merit.knots)).min() < 1e-4:
            return
    slopes, work = np.empty(point.size), np.empty(point.size)
    assert uphill(merit, point, slopes) == pytest.approx(value(merit, point, work), abs=1e-12)
    for arm in range(point.size):
        step = np.zeros(point.size)
        step[arm] = 1e-6
        found = (oracles.value(merit, point + step) - oracles.value(merit, point - step)) / 2e-6
        assert slopes[arm] == pytest.approx(found, abs=2e-5, rel=1e-4)


@given(means(), means(), merits())
def test_regret_of_a_round_is_between_0_and_2(
    left: list[float], right: list[float], merit: Any
) -> None:
    size = min(len(left), len(right))
    fair = fair_probabilities(merit, left[:size])
    gap = np.abs(fair - fair_probabilities(merit, right[:size])).sum()
    assert 0 <= gap <= 2 + 1e-12


def test_choose_follows_the_probabilities() -> None:
    chances = np.array([0.0, 0.25, 0.0, 0.75, 0.0])
    assert [choose(chances, u) for u in (0.0, 0.2499, 0.25, 0.9999999999999999)] == [1, 1, 3, 3]
    short = np.array([0.3, 0.3, 0.3999999, 0.0])  # a sum just below 1 must not pick the last
    assert choose(short, 0.99999999) == 2


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), floats(0, 0.9999999))
def test_choose_is_the_first_whose_sum_is_above(parts: list[int], uniform: float) -> None:
    """Or, where rounding leaves all sums at or below, the last that has a chance."""
    if not any(parts):
        return
    chances = np.array(parts) / (sum(parts) * (1 + 1e-8))
    above = [i for i in range(len(parts)) if chances[: i + 1].sum() > uniform + 1e-12]
    assert choose(chances, uniform) == (above[0] if above else np.flatnonzero(parts)[-1])
    assert choose_by_sums(chances, np.cumsum(chances), uniform) == choose(chances, uniform)


def test_arms_without_merit_get_nothing_and_all_of_them_get_equal_parts() -> None:
    merit = Affine(1, 0)
    np.testing.assert_allclose(fair_probabilities(merit, [-1, 1, 3]), [0, 0.25, 0.75], rtol=1e-15)
    np.testing.assert_allclose(fair_probabilities(merit, [-1, -2]), [0.5, 0.5])


def test_bad_means_are_refused() -> None:
    with pytest.raises(ValueError, match=r"means must be finite, not nan at \(1,\)"):
        fair_probabilities(Exponential(1), [0.1, np.nan])
    with pytest.raises(ValueError, match="the number of means must be"):
        fair_probabilities(Exponential(1), [])
