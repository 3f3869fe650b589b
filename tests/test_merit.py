from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from cases import MERITS, name
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import floats, merits

from fairx import Affine, Custom, Exponential, Logistic, PiecewiseLinear, Power
from fairx.checks import MERIT_CHECKS, check_merit


@pytest.mark.parametrize("check", MERIT_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("merit", MERITS, ids=name)
def test_merit(merit: Any, check: Any) -> None:
    check(merit, 0.0, 1.0)


def test_logarithms_are_those_of_the_formulas() -> None:
    for mean in (-0.2, 0.0, 0.3, 1.0):
        assert Exponential(3).log(mean) == 3 * mean
        assert Affine(2, 0.5).log(mean) == pytest.approx(math.log(2 * mean + 0.5), rel=1e-14)
        assert Power(1.5, 0.3).log(mean) == pytest.approx(1.5 * math.log(mean + 0.3), rel=1e-14)
        expected = -math.log1p(math.exp(-8 * (mean - 0.4)))
        assert Logistic(8, 0.4).log(mean) == pytest.approx(expected, rel=1e-12)
        expected = math.log(np.interp(mean, (0, 0.5, 1), (1, 2, 5)))
        assert PiecewiseLinear((0, 0.5, 1), (1, 2, 5)).log(mean) == pytest.approx(
            expected, abs=1e-14
        )
        assert Custom(lambda m: 2 + m).log(mean) == pytest.approx(math.log(2 + mean), rel=1e-14)


@pytest.mark.parametrize(
    ("merit", "gamma", "slope"),
    [
        (Exponential(2), 1.0, 2 * math.exp(2)),
        (Affine(2, 0.5), 0.5, 2.0),
        (Power(2, 1), 1.0, 4.0),
        (Power(0.5, 0.25), 0.5, 1.0),
        (Power(0, 0.25), 1.0, 0.0),
        (Logistic(4, 0.5), 1 / (1 + math.exp(2)), 1.0),
        (Logistic(4, 2.0), 1 / (1 + math.exp(8)), 4 * math.exp(-4) / (1 + math.exp(-4)) ** 2),
        (PiecewiseLinear((0, 0.5, 1), (1, 1, 3)), 1.0, 4.0),
    ],
    ids=name,
)
def test_gamma_and_lipschitz_constant_are_exact(merit: Any, gamma: float, slope: float) -> None:
    assert merit.minimum(0, 1) == pytest.approx(gamma, rel=1e-12)
    assert merit.lipschitz(0, 1) == pytest.approx(slope, rel=1e-12)


def test_the_slope_of_a_piece_counts_only_where_it_is_used() -> None:
    assert PiecewiseLinear((0, 0.5, 1), (1, 1, 3)).lipschitz(0, 0.5) == 0.0


def test_a_root_is_infinitely_steep_at_zero() -> None:
    assert Power(0.5, 0).lipschitz(0, 1) == math.inf


def test_a_search_ends_even_where_numbers_are_coarse() -> None:
    assert 2e7 <= Custom(lambda mean: 1 + mean * mean).peak(2e7, 2e7 + 1, 3e7) <= 2e7 + 1


def test_steepness_1000_does_not_overflow() -> None:
    merit = Exponential(1000)
    assert merit.log(0.9) == 900
    assert merit.lipschitz(0, 1) == math.inf
    assert merit.minimum(0, 1) == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exponential(-1), "steepness must be at least 0 and finite, not -1"),
        (lambda: Exponential(math.nan), "steepness must be"),
        (lambda: Affine(-1, 2), "slope must be at least 0"),
        (lambda: Affine(1, math.inf), "intercept must be finite"),
        (lambda: Power(-2, 1), "exponent must be at least 0"),
        (lambda: Logistic(math.inf, 0), "steepness must be"),
        (lambda: PiecewiseLinear((0, 0), (1, 2)), "knots must increase, but 0.0 follows 0.0"),
        (lambda: PiecewiseLinear((0, 1), (2, 1)), "merit must not decrease, but does at mean 1.0"),
        (lambda: PiecewiseLinear((0, 1), (0, 1)), "merit must be positive, but is 0.0 at mean 0.0"),
        (lambda: PiecewiseLinear((0,), (1,)), "at least 2, not 1 and 1"),
    ],
)
def test_bad_settings_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    "merit",
    [merit for merit in MERITS if not isinstance(merit, (Custom, PiecewiseLinear))],
    ids=name,
)
def test_every_number_among_the_settings_is_checked(merit: Any) -> None:
    for field in merit._fields:
        for wrong in (math.nan, math.inf, -math.inf, "a", None):
            with pytest.raises(ValueError, match=f"{field} must be"):
                merit._replace(**{field: wrong})


@pytest.mark.parametrize(
    ("merit", "message"),
    [
        (Affine(1, -0.5), "is not at mean 0.0"),
        (Power(2, -0.1), "is not at mean 0.0"),
        (Custom(lambda m: 1 - 0.5 * m), "must not decrease"),
        (Custom(lambda m: 1.0 if m < 0.5 else math.nan), "is not at mean 0.5"),
        (Custom(lambda m: m - 0.5), "is not at mean 0.0"),
    ],
    ids=name,
)
def test_a_merit_that_breaks_the_conditions_is_refused_by_name(merit: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_merit(merit, 0.0, 1.0)


def test_a_custom_merit_must_be_callable() -> None:
    with pytest.raises(TypeError, match="function must be callable, not 3"):
        Custom(3)  # type: ignore[arg-type]


@settings(deadline=None)
@given(merits(), floats(-0.5, 0.5), floats(0.01, 1.5), floats(-1, 3))
def test_the_peak_is_no_lower_than_any_grid_point(
    merit: Any, low: float, width: float, level: float
) -> None:
    high = low + width
    top = merit.log(high)
    found = merit.peak(low, high, level)
    best = math.exp(merit.log(found) - top) * (found - level)
    for mean in np.linspace(low, high, 101).tolist():
        assert math.exp(merit.log(mean) - top) * (mean - level) <= best + 1e-12


def late(mean: float) -> float:
    """Return a merit that is level until 0.5 and then steep: its peak is where it begins to rise."""
    return 1.0 + math.exp(40.0 * (mean - 0.5))


def stairs(mean: float) -> float:
    """Return a merit with steps at 0.2, 0.4, ...: there is a peak before each of them."""
    return sum(1.0 + math.tanh(30.0 * (mean - 0.2 * i)) for i in range(-5, 12)) + 1.0


SEARCHED = [Custom(late), Custom(stairs)]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(SEARCHED), floats(-0.5, 0.5), floats(0.01, 1.5), floats(-1, 3))
def test_a_searched_peak_is_the_best_of_a_fine_grid(
    merit: Any, low: float, width: float, level: float
) -> None:
    """The grid of 2,001 points misses the top by 1e-3 of the width at most, the search by 1e-9."""
    high = low + width

    def height(mean: float) -> float:
        return float(merit.function(mean) * (mean - level))

    found = merit.peak(low, high, level)
    assert low <= found <= high
    best = max(np.linspace(low, high, 2001).tolist(), key=height)
    assert height(found) >= height(best) - 1e-12 * abs(height(best))
    near = np.linspace(max(low, found - 1e-4), min(high, found + 1e-4), 201).tolist()
    assert height(found) >= max(map(height, near)) - 1e-12 * abs(height(found))


def test_a_searched_peak_may_be_inside() -> None:
    """At 0.5 + log(u) / 40 where 1 + u = 40 u (2 - m): the slope of the height is 0."""
    found = Custom(late).peak(0.0, 1.0, 2.0)
    assert 0.3 < found < 0.5
    rise = math.exp(40 * (found - 0.5))
    assert 1 + rise == pytest.approx(40 * rise * (2 - found), rel=1e-5)


@pytest.mark.parametrize(
    "merit",
    [
        *(Power(exponent, offset) for exponent in (0.5, 1.0, 1.5, 3.0) for offset in (0.0, 0.1)),
        *(Logistic(8, midpoint) for midpoint in (-1.0, 0.4, 0.7, 3.0)),
        Exponential(0),
        Affine(0, 1),
        PiecewiseLinear((0.2, 0.3, 0.6), (1, 4, 5)),
        Custom(late),
    ],
    ids=name,
)
def test_gamma_and_lipschitz_constant_are_those_of_a_grid(merit: Any) -> None:
    """Of differences between 4,001 means, on several intervals: to a hundredth, or infinite."""
    for low, high in ((0.0, 1.0), (0.0, 0.25), (0.3, 0.5), (0.55, 2.0)):
        means = np.linspace(low, high, 4001)
        values = np.array([math.exp(merit.log(mean)) for mean in means.tolist()])
        steepest = np.diff(values).max() / (means[1] - means[0])
        assert merit.minimum(low, high) == pytest.approx(values.min(), rel=1e-9, abs=1e-12)
        if low == 0 and merit == Power(0.5, 0.0):
            assert merit.lipschitz(low, high) == math.inf
        else:
            assert merit.lipschitz(low, high) == pytest.approx(steepest, rel=0.01, abs=1e-12)
