"""Contexts for the arms of a data set: random Fourier features of (features x one-hot arm).

The product of an example's d features and K arms has K d coordinates, all but d of them zero, so a
random direction meets only the block of its arm: the features of one arm are those of a d by
`dimension` matrix, and the product is never made.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.numerics.least_squares import GRID, solved
from fairx.types import Matrix

PAIRS = 10_000  # enough for a median to three digits


def fourier_features(
    features: npt.ArrayLike,
    arms: int,
    *,
    seed: int,
    dimension: int = 50,
    bandwidth: float | str = "median",
) -> Matrix:
    """Return random Fourier features (Rahimi and Recht, 2007) of every example and arm.

    They are sqrt(2 / dimension) cos(w . z + b) of z = features x one-hot arm, with w normal of
    standard deviation 1 / bandwidth and b uniform on a circle: their inner products approximate
    the Gaussian kernel of that bandwidth.

    Parameters
    ----------
    features
        Of shape (examples, d).
    bandwidth
        A positive number, or "median": the median distance of two products z drawn at random.

    Notes
    -----
    Values are rounded to multiples of 2**-20, so that the last bits of a machine's matrix product
    and cosine do not show, but for one value in billions.

    Examples
    --------
    >>> contexts = fourier_features([[1.0, 0.0], [0.0, 1.0]], arms=3, seed=1, dimension=4)
    >>> contexts.shape
    (2, 3, 4)
    >>> contexts[0, 0].round(2)
    array([-0.53,  0.71,  0.61,  0.7 ])
    """
    found = rules.array("features", features, (None, None), "one row per example")
    arms, dimension = rules.count("arms", arms), rules.count("dimension", dimension)
    if bandwidth == "median":
        bandwidth = median_distance(found, arms, seed=seed)
    scale = 1.0 / rules.positive("bandwidth", bandwidth)
    rng = np.random.default_rng(rules.count("seed", seed, low=0))
    angles = rng.uniform(0, 2 * math.pi, dimension)
    out = np.empty((len(found), arms, dimension))
    for arm in range(arms):
        block = scale * rng.standard_normal((found.shape[1], dimension))
        cosines = np.cos(found @ block + angles)
        cosines *= math.sqrt(2.0 / dimension) * GRID
        np.rint(cosines, out=cosines)
        np.divide(cosines, GRID, out=out[:, arm])
    return out


def median_distance(features: Matrix, arms: int, *, seed: int) -> float:
    """Return the median distance of two products of random examples and arms.

    Products of different arms are at right angles: their squared distance is the sum of their
    squared lengths.

    Examples
    --------
    >>> round(median_distance(np.eye(5), arms=3, seed=1) ** 2, 3)
    2.0
    """
    if len(features) < 2:
        raise ValueError(f"features must have at least 2 rows for a median, not {len(features)}")
    rng = np.random.default_rng([rules.count("seed", seed, low=0), len(features)])
    first, second = rng.integers(len(features), size=(2, PAIRS))
    same_arm = rng.integers(arms, size=PAIRS) == 0
    squares = (features**2).sum(axis=1)
    products = (features[first] * features[second]).sum(axis=1)
    distances = squares[first] + squares[second] - 2.0 * same_arm * products
    median = np.sqrt(np.median(distances[first != second]))
    return rules.positive("the median distance of the features", float(median))


def linear_fit(contexts: Matrix, labels: Matrix) -> Matrix:
    """Return the least-squares parameter of labels against contexts, over all examples and arms.

    Examples
    --------
    >>> contexts = fourier_features(np.eye(3), arms=2, seed=1, dimension=3)
    >>> linear_fit(contexts, contexts @ np.array([1.0, 2.0, 3.0])).round(3)
    array([1., 2., 3.])
    """
    dimension = contexts.shape[-1]
    gram, sums = np.zeros((dimension, dimension)), np.zeros(dimension)
    for arm in range(contexts.shape[1]):  # never a copy of all contexts
        rows = contexts[:, arm]
        gram += rows.T @ rows
        sums += rows.T @ labels[:, arm]
    return solved(gram, sums)
