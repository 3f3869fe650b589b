"""What a log of decisions may be: one thing wrong at a time is refused, and nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairx.evaluation import Logged
from fairx.logs.problems import EACH, SUM

GOOD: dict[str, Any] = {
    "arms": [0, 2, 1],
    "rewards": [1.0, 0.0, 0.5],
    "propensities": [0.25, 1.0, 0.5],
    "candidates": [[0, 1, 2], [2, -1, -1], [0, 1, -1]],
    "probabilities": [[0.25, 0.25, 0.5], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]],
    "units": ["b", "a", "b"],
    "contexts": [[0.5], [1.5], [2.5]],
}


def changed(name: str, row: int, value: Any) -> dict[str, Any]:
    column = [list(one) if isinstance(one, list) else one for one in GOOD[name]]
    column[row] = value
    return GOOD | {name: column}


def test_a_good_log_is_as_it_was_given() -> None:
    log = Logged(**GOOD)
    assert log.units is not None
    assert log.units.tolist() == [1, 0, 1]
    assert log.names == (0, 1, 2)
    assert log.positions().tolist() == [0, 0, 1]
    assert log.slots().tolist() == GOOD["candidates"]
    for name in ("arms", "rewards", "propensities", "probabilities", "contexts"):
        np.testing.assert_array_equal(getattr(log, name), GOOD[name])
    least: dict[str, Any] = {"arms": [0, 2], "rewards": [0.0, 1.0], "propensities": [0.5, 0.5]}
    plain = Logged(**least)
    assert plain.slots().tolist() == [[0, 1, 2]] * 2
    assert plain.positions().tolist() == [0, 2]


@pytest.mark.parametrize("part", [0.9, -0.9])
def test_rounding_is_forgiven(part: float) -> None:
    Logged(**changed("probabilities", 0, [0.25, 0.25, 0.5 + part * SUM]))
    Logged(**changed("propensities", 0, 0.25 + part * EACH))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (changed("arms", 0, -1), "arms must be from 0 to 2, not -1"),
        (changed("arms", 1, 7), "arms must be from 0 to|candidates must be those on offer"),
        (GOOD | {"names": ("a", "b")}, "arms must be from 0 to 1, not 2"),
        (changed("candidates", 2, [0, 1, 1]), "candidates must be distinct, not .* at 2"),
        (changed("candidates", 2, [0, 2, -1]), r"the arm shown too, not \[0, 2, -1\] with arm 1"),
        (changed("propensities", 1, 0.0), "propensities must be above 0 and at most 1, not 0 at 1"),
        (changed("propensities", 1, 1 + 1e-9), "propensities must be above 0 and at most 1"),
        (changed("propensities", 0, 0.25 + 1.1 * EACH), "probabilities must be .* at 0"),
        (changed("propensities", 0, 0.25 - 1.1 * EACH), "probabilities must be .* at 0"),
        (changed("probabilities", 0, [0.25, 0.25, 0.5 + 1.1 * SUM]), "sum to 1"),
        (changed("probabilities", 0, [0.25, 0.25, 0.5 - 1.1 * SUM]), "sum to 1"),
        (changed("probabilities", 0, [0.25, -0.25, 1.0]), "probabilities must be not negative"),
        (changed("probabilities", 2, [0.4, 0.6, 0.0]), "be the propensity at the arm shown"),
        (GOOD | {"rewards": [1.0]}, "rewards must have shape"),
        (GOOD | {"units": [1, 2]}, "units must be as many as decisions, 3, not 2"),
        (GOOD | {"contexts": [[1.0]]}, "contexts must have shape"),
        (
            GOOD | {"arms": [0.0, 2.0, 1.0]},
            "arms must be whole numbers in 1 dimension, not float64",
        ),
        (GOOD | {"candidates": [0, 2, 1]}, "candidates must be whole numbers in 2 dimensions"),
    ],
)
def test_one_thing_wrong_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Logged(**fields)
