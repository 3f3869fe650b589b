from __future__ import annotations

import numpy as np
from scipy import stats

from fairx.numerics.streams import (
    BLOCK,
    fill_normals,
    fill_uniforms,
    normals_of_round,
    streams,
    uniform,
)


def uniforms(seed: int, run: int, blocks: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    out = np.empty((blocks, BLOCK))
    with np.errstate(over="ignore"):
        for block in range(blocks):
            fill_uniforms(streams(seed, run).choice, block, out[block])
    return out.ravel()


def normals(
    seed: int, run: int, blocks: int, each: int
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    out = np.empty((blocks, BLOCK * each))
    with np.errstate(over="ignore"):
        for block in range(blocks):
            fill_normals(streams(seed, run).policy, block, each, out[block])
    return out.reshape(blocks * BLOCK, each)


def test_the_numbers_are_uniform_and_normal() -> None:
    """Kolmogorov-Smirnov on fixed seeds, at a level of 1e-4."""
    assert stats.kstest(uniforms(1, 0, 1000), "uniform").pvalue > 1e-4
    drawn = normals(1, 0, 300, 3)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-4
    assert stats.kstest((drawn[:, 0] ** 2 + drawn[:, 1] ** 2), "chi2", args=(2,)).pvalue > 1e-4


def test_neighbours_are_not_correlated() -> None:
    """Correlations of 4,800 numbers stay within 5 standard errors: false alarm below 1e-5."""
    drawn = normals(2, 0, 300, 3)
    pairs = [
        (drawn[:, 0], drawn[:, 1]),
        (drawn[:-1, 0], drawn[1:, 0]),
        (drawn[:-8, 0], drawn[8:, 0]),
    ]
    pairs.append((drawn[:, 0], normals(2, 1, 300, 3)[:, 0]))  # another run
    pairs.append((drawn[:, 0], normals(3, 0, 300, 3)[:, 0]))  # another seed
    for left, right in pairs:
        assert abs(np.corrcoef(left, right)[0, 1]) < 5 / np.sqrt(len(left))


def test_one_round_is_the_same_alone() -> None:
    drawn, alone, keys = normals(5, 2, 3, 7), np.empty(7), streams(5, 2)
    with np.errstate(over="ignore"):
        for t in (0, 7, 8, 15, 16, 40):
            normals_of_round(keys.policy, t, 7, alone)
            np.testing.assert_array_equal(alone, drawn[t])
            assert uniform(keys.choice, t) == uniforms(5, 2, 3)[t]
