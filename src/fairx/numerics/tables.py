"""Elementary functions as a GPU likes them: a table of few points, and a short polynomial between them.

A processor makes vector code of long polynomials, and has no tables in it. On a GPU every lane reads its own item
at once, and work in double precision is what there is least of. Both are right to about the last bit.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from fairx.compiled import kernel, tabulated
from fairx.types import Vector

LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453
LN2_HIGH = 0.693147180369123816490  # its last 21 bits are zero: k * LN2_HIGH is exact
LN2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds, and leaves the integer in the low bits
LOWEST = -708.0


def shortened(coefficients: Vector, low: float, high: float, terms: int) -> list[float]:
    """Return the coefficients of a shorter polynomial that is as near as can be from `low` to `high`.

    Examples
    --------
    >>> shortened(np.array([1.0, 1.0, 0.5]), -1.0, 1.0, 2)  # 1 + x + x**2 / 2
    [1.25, 1.0]
    """
    ends = low, high
    long = Polynomial(coefficients, ends, ends)
    short = long.convert(ends, Chebyshev).truncate(terms)
    return [float(each) for each in short.convert(ends, Polynomial, ends).coef]


WORD, HALF = np.uint64(32), np.uint64(0xFFFFFFFF)
EXPONENT = 0xFFF00000  # where it is in the upper half


@kernel
def upper(x: float) -> np.uint32:
    """Return the upper half of the bits of a number."""
    return np.uint32(np.float64(x).view(np.uint64) >> WORD)


@kernel
def lower(x: float) -> np.uint32:
    """Return the lower half of the bits of a number."""
    return np.uint32(np.float64(x).view(np.uint64) & HALF)


@kernel
def number_of(high: np.uint32, low: np.uint32) -> float:
    """Return the number with these halves.

    Examples
    --------
    >>> number_of(upper(1.5), lower(1.5))
    1.5
    """
    return float(np.uint64((np.uint64(high) << WORD) | np.uint64(low)).view(np.float64))


power = tabulated(2.0 ** (np.arange(16) / 16))  # one item for each two banks of a GPU
STEPS_EACH = 16 * LOG2E
LOWEST_BITS = upper(LOWEST)
(E2, E3, E4, E5, E6) = shortened(
    np.array([1.0 / math.factorial(i) for i in range(2, 16)]), -LN2 / 32, LN2 / 32, 5
)


@kernel
def exp_by_table(x: float) -> float:
    """Return e**x for what is not above 709, of which 0 is left below -708.

    Examples
    --------
    >>> with np.errstate(over="ignore"):  # whole numbers wrap around, on purpose
    ...     exp_by_table(0.0), exp_by_table(-1e9), round(exp_by_table(1.0), 14)
    (1.0, 0.0, 2.71828182845905)
    """
    shifted = x * STEPS_EACH + ROUND
    steps = shifted - ROUND
    r = (x - steps * (LN2_HIGH / 16)) - steps * (LN2_LOW / 16)
    step = lower(shifted)
    near, r2 = power(np.uint32(step & 15)), r * r
    rest = r + r2 * ((E2 + E3 * r) + r2 * ((E4 + E5 * r) + r2 * E6))
    found = near + near * rest
    scale = np.uint32((step << 16) & EXPONENT)
    scaled = number_of(np.uint32(upper(found) + scale), lower(found))
    return 0.0 if upper(x) > LOWEST_BITS else scaled


# A logarithm begins with one of 32 parts of [0.68, 1.36), the one about 1 at 1 itself: small results are as exact.
FIRST_BITS = 0x3FE5C000
BIAS = 1024  # no exponent is negative then
BIASED, TWO_52_BITS = np.uint32(BIAS << 20), np.uint32(0x43300000)
TO_PLACE = np.uint32((BIAS << 20) - FIRST_BITS)
_starts = (np.arange(33, dtype=np.int64) * (1 << 15) + FIRST_BITS) << 32
_middles = (_starts[:-1].view(np.float64) + _starts[1:].view(np.float64)) / 2
_middles[np.abs(_middles - 1.0) < 1.0 / 128] = 1.0
_inverses = 1.0 / _middles  # rounded: logarithms are of what they are the inverses of
inverse, logarithm = tabulated(_inverses), tabulated(-np.log(_inverses))
(L2, L3, L4, L5, L6, L7, L8) = shortened(
    np.array([(-1.0) ** (i + 1) / i for i in range(2, 18)]), -1.0 / 64, 1.0 / 64, 7
)


@kernel
def log_by_table(x: float) -> float:
    """Return the natural logarithm of a positive, normal number; exact where a product and a sum are fused.

    Examples
    --------
    >>> with np.errstate(over="ignore"):
    ...     log_by_table(1.0), round(log_by_table(10.0), 12)
    (0.0, 2.302585092994)
    """
    high = upper(x)
    place = np.uint32(high + TO_PLACE)
    part, power_bits = np.uint32((place >> 15) & 31), np.uint32(place & EXPONENT)
    exponent = number_of(TWO_52_BITS, np.uint32(place >> 20)) - (2.0**52 + BIAS)
    mantissa = number_of(np.uint32(high + np.uint32(BIASED - power_bits)), lower(x))
    r = mantissa * inverse(part) - 1.0
    far = (L4 + L5 * r) + (r * r) * ((L6 + L7 * r) + (r * r) * L8)
    rest = r + (r * r) * ((L2 + L3 * r) + (r * r) * far)
    return float((exponent * LN2 + logarithm(part)) + rest)
