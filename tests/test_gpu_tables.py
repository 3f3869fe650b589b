"""Elementary functions by table, as GPUs reckon them: right to the last bits, wherever they are asked."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairx.compiled.tables import all_items, places
from fairx.exposure import choosing
from fairx.numerics.directions import direction_by_quarters
from fairx.numerics.streams import direction
from fairx.numerics.tables import exp_by_table, inverse, log_by_table, logarithm

pytestmark = pytest.mark.once
WORD = 2**64 - 1


@pytest.fixture(autouse=True, scope="module")
def wrapping() -> Iterator[None]:
    """Let whole numbers wrap around, which is on purpose."""
    with np.errstate(over="ignore"):
        yield


@given(st.floats(-708, 709))
def test_exponentials(x: float) -> None:
    assert exp_by_table(x) == pytest.approx(math.exp(x), rel=5e-16, abs=0)


@pytest.mark.parametrize("x", [-708.1, -1e5, -1.7e308, -math.inf])
def test_exponentials_of_what_is_far_below_are_0(x: float) -> None:
    assert exp_by_table(x) == 0.0


def test_what_is_no_number_stays_none() -> None:
    assert math.isnan(exp_by_table(math.nan))


@given(st.floats(1e-300, 1e300))
def test_logarithms(x: float) -> None:
    """A product and a sum that are not fused are wrong by a bit of 1 at most."""
    assert log_by_table(x) == pytest.approx(math.log(x), rel=4e-16, abs=1.2e-16)


@given(st.integers(0, 2**46))
def test_logarithms_of_what_is_nearly_1_are_as_exact(steps: int) -> None:
    """Where a table would leave nothing: there a normal number is small."""
    x = 1.0 - steps * 2.0**-53
    assert log_by_table(x) == pytest.approx(math.log(x), rel=4e-16, abs=0)


@pytest.mark.parametrize("part", range(32))
def test_logarithms_are_of_the_very_numbers_that_are_divided_by(part: int) -> None:
    """Those of numbers before rounding are wrong by 32 last bits near 1, however the rest is reckoned."""
    divided = float(inverse(part))
    assert logarithm(part) == pytest.approx(-math.log(divided), rel=2.0**-52, abs=0)


@given(st.integers(0, WORD))
def test_directions(word: int) -> None:
    bits = np.uint64(word)
    assert direction_by_quarters(bits) == pytest.approx(direction(bits), rel=0, abs=4e-16)


@pytest.mark.parametrize("eighth", range(8))
@pytest.mark.parametrize("step", [-4096, 0, 4096])
def test_directions_where_one_quarter_ends(eighth: int, step: int) -> None:
    bits = np.uint64((eighth * 2**61 + step) & WORD)
    assert direction_by_quarters(bits) == pytest.approx(direction(bits), rel=0, abs=4e-16)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0, 1))
def test_sums_are_counted_alike(parts: list[float], uniform: float) -> None:
    values = np.array(parts)
    assert choosing._passed_in_32_bits(values, uniform) == choosing.passed(values, uniform)


def test_tables_lie_one_after_the_other() -> None:
    whole = all_items()
    for item, place in places().items():
        assert item(0) == whole[place]
