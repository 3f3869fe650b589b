"""Elementary functions whose last bit is the same on every machine.

The library's `exp`, `log`, `sin` and `cos` differ between systems and are called one by one;
these are polynomials in plain arithmetic, which the compiler turns into vector code and which
give the same double everywhere: interpreted, compiled, with or without vector units.
Errors are below 1e-15 relative (`exp`, `log`) or absolute (`sine_and_cosine`).
"""

from __future__ import annotations

import math

import numpy as np

from fairx.compiled import (
    has_tables,
    is_exact,
    kernel,
    kernel_with,
    near_inverse_root,
    near_reciprocal,
)

from .tables import LN2, LN2_HIGH, LN2_LOW, LOG2E, LOWEST, ROUND, exp_by_table, log_by_table

ROUND_BITS = 0x4338000000000000
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD  # sqrt(1/2)
TWO_PI = 6.283185307179586
HIGHEST = 709.0
TINY = 1e-300

(E3, E4, E5, E6, E7, E8, E9, E10, E11, E12) = (1.0 / math.factorial(i) for i in range(3, 13))
(S3, S5, S7, S9, S11, S13, S15) = (1.0 / math.factorial(i) for i in range(3, 16, 2))
(K4, K6, K8, K10, K12, K14, K16) = (1.0 / math.factorial(i) for i in range(4, 17, 2))
(L3, L5, L7, L9, L11, L13, L15, L17, L19) = (2.0 / i for i in range(3, 20, 2))


@kernel
def exp(x: float) -> float:
    """Return e**x; 0 below -708, and e**709 above 709.

    Examples
    --------
    >>> exp(1.0)
    2.718281828459045
    """
    return exp_up_to_709(min(HIGHEST, x))


@kernel
def exp_near_0(r: float) -> float:
    """Return e**r, for what is at most half the logarithm of 2."""
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (0.5 + E3 * r)
    middle = (E4 + E5 * r) + r2 * (E6 + E7 * r)
    high = (E8 + E9 * r) + r2 * (E10 + E11 * r) + r4 * E12
    return low + r4 * (middle + r4 * high)


@kernel
def _exp_by_polynomial(x: float) -> float:
    """Return e**x for what is not above 709, by one polynomial."""
    tiny = x < LOWEST
    x = max(LOWEST, x)
    shifted = x * LOG2E + ROUND
    power = shifted - ROUND
    found = exp_near_0((x - power * LN2_HIGH) - power * LN2_LOW)
    bits = np.float64(shifted).view(np.int64)
    scale = np.int64((bits + 1023) << 52).view(np.float64)
    return 0.0 if tiny else float(found * scale)


def _exp_on_gpu(x: float) -> float:
    return exp_by_table(x) if has_tables() else _exp_by_polynomial(x)


@kernel_with(_exp_on_gpu)
def exp_up_to_709(x: float) -> float:
    """Return e**x, to the last bit as `exp`, for what is not above 709.

    Examples
    --------
    >>> exp_up_to_709(-1e9)
    0.0
    """
    return _exp_by_polynomial(x)


def _quotient_by_steps(a: float, b: float) -> float:
    """Return a / b without a branch for what is tiny or huge, to the last bit or the one before."""
    if is_exact():
        return a / b
    guess = near_reciprocal(b)
    error = 1.0 - b * guess
    guess += guess * (error + error * error)
    found = a * guess
    return found + guess * (a - b * found)


@kernel_with(_quotient_by_steps)
def quotient(a: float, b: float) -> float:
    """Return a / b, for what is neither tiny nor huge.

    Examples
    --------
    >>> quotient(1.0, 4.0)
    0.25
    """
    return a / b


def _root_by_steps(x: float) -> float:
    """Return the root without a branch for what is tiny or huge, to the last bits."""
    if is_exact():
        return math.sqrt(x)
    x += TINY  # of which the inverse root is a number
    inverse = near_inverse_root(x)
    found = x * inverse
    error = 1.0 - found * inverse
    return found + found * (error * (0.5 + 0.375 * error))


@kernel_with(_root_by_steps)
def root(x: float) -> float:
    """Return the square root, for 0 and what is neither tiny nor huge.

    Examples
    --------
    >>> root(0.0), root(4.0)
    (0.0, 2.0)
    """
    return math.sqrt(x)


@kernel
def _log_by_polynomial(x: float) -> float:
    """Return the natural logarithm of a positive, normal number, by one polynomial."""
    bits = np.float64(x).view(np.int64)
    power = (bits - ROOT_HALF_BITS) >> 52
    mantissa = np.int64(bits - (power << 52)).view(np.float64)
    exponent = np.int64(power + ROUND_BITS).view(np.float64) - ROUND
    s = quotient(mantissa - 1.0, mantissa + 1.0)
    z = s * s
    high = L11 + z * (L13 + z * (L15 + z * (L17 + z * L19)))
    p = L3 + z * (L5 + z * (L7 + z * (L9 + z * high)))
    return float(exponent * LN2 + ((p * z) * s + (s + s)))


def _log_on_gpu(x: float) -> float:
    return log_by_table(x) if has_tables() else _log_by_polynomial(x)


@kernel_with(_log_on_gpu)
def log(x: float) -> float:
    """Return the natural logarithm of a positive, normal number.

    Examples
    --------
    >>> log(10.0)
    2.3025850929940455
    """
    return _log_by_polynomial(x)


@kernel
def chance(x: float) -> float:
    """Return 1 / (1 + e**-x), the chance of success of a logistic model.

    Examples
    --------
    >>> chance(0.0), chance(-800.0), chance(800.0)
    (0.5, 0.0, 1.0)
    """
    part = exp(-abs(x))
    return (1.0 if x >= 0.0 else part) / (1.0 + part)


@kernel
def sine_and_cosine(turn: float) -> tuple[float, float]:
    """Return the sine and cosine of 2 pi `turn`, for a turn of -1/2 to 1/2.

    Examples
    --------
    >>> sine_and_cosine(0.0)
    (0.0, 1.0)
    """
    shifted = turn * 4.0 + ROUND
    quarter = np.float64(shifted).view(np.int64)
    t = (turn - (shifted - ROUND) * 0.25) * TWO_PI
    t2 = t * t
    odd = S7 - t2 * (S9 - t2 * (S11 - t2 * (S13 - t2 * S15)))
    even = K8 - t2 * (K10 - t2 * (K12 - t2 * (K14 - t2 * K16)))
    sine = t - t * t2 * (S3 - t2 * (S5 - t2 * odd))
    cosine = 1.0 - t2 * (0.5 - t2 * (K4 - t2 * (K6 - t2 * even)))
    # An odd quarter swaps the two; the signs follow from the second bit: all without branches.
    sine_bits, cosine_bits = np.float64(sine).view(np.int64), np.float64(cosine).view(np.int64)
    swap = (sine_bits ^ cosine_bits) & -(quarter & 1)
    sine_bits = (sine_bits ^ swap) ^ ((quarter & 2) << 62)
    cosine_bits = (cosine_bits ^ swap) ^ (((quarter + 1) & 2) << 62)
    return float(np.int64(sine_bits).view(np.float64)), float(
        np.int64(cosine_bits).view(np.float64)
    )
