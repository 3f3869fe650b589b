"""Bands against NumPy's and SciPy's formulas, and the coverage that the interval promises."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from fairx.simulation import bands

VALUES = np.random.default_rng(7).normal(50, 9, (6, 4))


def test_bands_are_those_of_numpy_and_scipy() -> None:
    mean, error = VALUES.mean(axis=0), stats.sem(VALUES, axis=0)
    deviation = np.std(VALUES, axis=0, ddof=1)
    interval = stats.t.interval(0.95, len(VALUES) - 1, loc=mean, scale=error)
    expected = {
        "std": (mean - deviation, mean + deviation),
        "se": (mean - error, mean + error),
        "interval": interval,
    }
    assert expected.keys() == bands.BANDS.keys()
    for kind, ends in expected.items():
        found = bands.band(VALUES, kind)
        for one, other in zip(found, (mean, *ends), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_half_a_band_is_the_factor_times_the_deviation() -> None:
    for kind in bands.BANDS:
        found = bands.band(VALUES, kind)
        half = bands.factor(kind, 6) * bands.standard_deviation(VALUES)
        np.testing.assert_allclose((found.high - found.low) / 2, half)


@pytest.mark.parametrize("kind", bands.BANDS)
def test_one_run_has_no_band(kind: str) -> None:
    mean, low, high = bands.band(VALUES[:1], kind)
    for part in (mean, low, high):
        np.testing.assert_array_equal(part, VALUES[0])


def test_there_are_three_kinds() -> None:
    message = r"band must be one of std, se, interval, not 'sdt': did you mean 'std'\?"
    with pytest.raises(ValueError, match=message):
        bands.band(VALUES, "sdt")


def test_the_interval_covers_as_often_as_it_says() -> None:
    """Of 20,000 experiments with 4 normal runs, 95 % cover the mean, to five deviations."""
    experiments = 20_000
    values = np.random.default_rng(3).normal(2, 5, (4, experiments))
    _, low, high = bands.band(values, "interval")
    covered = float(((low <= 2) & (high >= 2)).mean())
    assert abs(covered - 0.95) < 5 * math.sqrt(0.95 * 0.05 / experiments)


def test_a_standard_error_covers_less() -> None:
    """With 4 runs, Student's t is within 1 of 0 with chance 0.609: se is no interval of 95 %."""
    experiments = 20_000
    values = np.random.default_rng(3).normal(2, 5, (4, experiments))
    _, low, high = bands.band(values, "se")
    chance = 1 - 2 * stats.t.sf(1, 3)
    covered = float(((low <= 2) & (high >= 2)).mean())
    assert abs(covered - chance) < 5 * math.sqrt(chance * (1 - chance) / experiments)


def test_only_intervals_need_scipy() -> None:
    code = (
        "import sys; sys.modules['scipy.special'] = None\n"
        "from fairx.simulation.bands import band\n"
        "band([[1.0], [2.0]], 'se')\n"
        "try: band([[1.0], [2.0]], 'interval')\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "t intervals need SciPy: pip install 'fairx[experiments]'\n"
