from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from strategies import floats

from fairx.numerics.elementary import exp, log, sine_and_cosine
from fairx.numerics.linear_algebra import (
    add_outer,
    dot,
    four_products,
    times,
    transpose_times,
    triangle_times,
)


@given(floats(-700, 700))
def test_exp(x: float) -> None:
    assert exp(x) == pytest.approx(math.exp(x), rel=1e-15)


def test_exp_is_clipped_at_both_ends() -> None:
    assert exp(-math.inf) == exp(-1e300) == exp(-708.1) == 0.0
    assert 1e300 < exp(math.inf) == exp(1e9) < math.inf


@given(floats(1e-300, 1e300))
def test_log(x: float) -> None:
    assert log(x) == pytest.approx(math.log(x), rel=1e-15, abs=1e-15)


@given(floats(-0.5, 0.5))
def test_sine_and_cosine(turn: float) -> None:
    sine, cosine = sine_and_cosine(turn)
    assert sine == pytest.approx(math.sin(2 * math.pi * turn), abs=1e-15)
    assert cosine == pytest.approx(math.cos(2 * math.pi * turn), abs=1e-15)


@pytest.mark.parametrize("size", [1, 3, 8, 13, 50])
def test_products_of_matrices(size: int) -> None:
    rng = np.random.default_rng(size)
    matrix, x, y = rng.normal(size=(size, size)), rng.normal(size=size), rng.normal(size=size)
    out = np.empty(size)
    assert dot(x, y) == pytest.approx(x @ y, abs=1e-13)
    times(matrix, x, out)
    np.testing.assert_allclose(out, matrix @ x, atol=1e-13)
    triangle_times(np.tril(matrix), x, out)
    np.testing.assert_allclose(out, np.tril(matrix) @ x, atol=1e-13)
    transpose_times(matrix, x, out)
    np.testing.assert_allclose(out, matrix.T @ x, atol=1e-13)
    if size >= 4:
        np.testing.assert_allclose(four_products(matrix, 0, x, size), matrix[:4] @ x, atol=1e-13)
    added = matrix.copy()
    add_outer(added, 0.5, x, y)
    np.testing.assert_allclose(added, matrix + 0.5 * np.outer(x, y), atol=1e-13)
