"""Gamma numbers, each a function of a standard normal number: same bits on every machine."""

from __future__ import annotations

import math

from fairx.compiled import kernel, last_bits, outlined
from fairx.types import Indices, Vector

from .elementary import exp, log
from .streams import normals_of, unit, word

SQUEEZE, THIRD = 0.0331, 1.0 / 3.0


@kernel
def spread_of(shape: float) -> float:
    """Return what `gamma` multiplies its normal numbers with, for a shape: known before the draw."""
    return 1.0 / math.sqrt(9.0 * centre_of(shape))


@kernel
def centre_of(shape: float) -> float:
    """Return the centre of the proposals for a shape; for one below 1, that of one more."""
    return (shape if shape >= 1.0 else shape + 1.0) - THIRD


@outlined
def gamma(shape: float, spread: float, normal: float) -> float:
    """Return a number with the gamma distribution of `shape` and rate 1, made of a normal number.

    The method of Marsaglia and Tsang (2000), exact: of twenty proposals one or none is rejected. What
    it draws beside the given number comes from a stream whose key are the bits of that number.

    Examples
    --------
    >>> import numpy as np
    >>> with np.errstate(over="ignore"):  # whole numbers wrap around, on purpose
    ...     round(float(gamma(3.0, spread_of(3.0), 0.0)), 3)
    2.667
    """
    d, key = centre_of(shape), last_bits(normal)
    counter, root = 1, 1.0 + spread * normal
    while not accepted(d, root, normal, 1.0 - unit(word(key, counter))):
        normal, _ = normals_of(word(key, counter + 1), word(key, counter + 2))
        counter, root = counter + 3, 1.0 + spread * normal
    found = d * (root * root * root)
    if shape < 1.0:
        found *= exp(log(1.0 - unit(word(key, counter + 1))) / shape)
    return found


@kernel
def accepted(d: float, root: float, normal: float, uniform: float) -> bool:
    """Tell whether a proposal d * root**3 is taken; most are, without a logarithm."""
    if root <= 0.0:
        return False
    square, v = normal * normal, root * root * root
    if uniform < 1.0 - SQUEEZE * square * square:
        return True
    return log(uniform) < 0.5 * square + d * (1.0 - v + 3.0 * log(root))


@kernel
def quick_gamma(shape: float, spread: float, normal: float) -> float:
    """Return what `gamma` does where its first proposal is taken at once, and -1 where it is not."""
    square, root = normal * normal, 1.0 + spread * normal
    uniform = 1.0 - unit(word(last_bits(normal), 1))
    taken = (root > 0.0) & (uniform < 1.0 - SQUEEZE * square * square) & (shape >= 1.0)
    return (shape - THIRD) * (root * root * root) if taken else -1.0


@kernel
def draw_gammas(
    shapes: Vector, spreads: Vector, arms: Indices, normals: Vector, out: Vector
) -> None:
    """Write a gamma number for each arm on offer; nineteen of twenty in a loop that becomes vector code."""
    for position in range(len(arms)):
        arm = arms[position]
        out[position] = quick_gamma(shapes[arm], spreads[arm], normals[position])
    for position in range(len(arms)):
        if out[position] < 0.0:
            arm = arms[position]
            out[position] = gamma(shapes[arm], spreads[arm], normals[position])
