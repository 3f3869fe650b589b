"""The divergence of two coins, and how far the one can be from the other for what is allowed of it."""

from __future__ import annotations

import math

from fairx.compiled import kernel
from fairx.numerics.elementary import exp, log

STEPS, NEAR = 60, 1e-16


@kernel
def log_of_1_plus(x: float) -> float:
    """Return log(1 + x) without loss where x is small."""
    near = 1.0 + x
    return x if near == 1.0 else log(near) * (x / (near - 1.0))


@kernel
def divergence(p: float, q: float) -> float:
    """Return kl(p, q) of two coins, for p and q inside (0, 1), without loss where they are near.

    Examples
    --------
    >>> round(divergence(0.5, 0.75), 6)
    0.143841
    """
    gap = q - p
    return -p * log_of_1_plus(gap / p) - (1.0 - p) * log_of_1_plus(-gap / (1.0 - p))


@kernel
def farthest(p: float, cost: float) -> float:
    """Return the largest q with kl(p, q) <= cost, to about 1e-15.

    kl is convex in q and rises above p. The search starts from two terms of the root's series in
    sqrt(cost), and takes Halley's steps, whose error is the cube of the last one's.

    Examples
    --------
    >>> round(farthest(0.5, 0.143841), 5), farthest(0.0, 0.0), farthest(1.0, 2.0)
    (0.75, 0.0, 1.0)
    """
    if cost <= 0.0 or p >= 1.0:
        return p
    if p <= 0.0:
        return 1.0 - exp(-cost)
    top = p + math.sqrt(0.5 * cost)  # by Pinsker's inequality
    if top >= 1.0:  # and as kl(p, q) >= (1 - p) log(1 / (1 - q)) - entropy(p)
        entropy = -p * log(p) - (1.0 - p) * log(1.0 - p)
        top = 1.0 - exp(-(cost + entropy) / (1.0 - p))
    q = min(p + math.sqrt(2.0 * p * (1.0 - p) * cost) + cost * (1.0 - 2.0 * p) / 3.0, top)
    q = q if q > p else top
    for _ in range(STEPS):
        if q >= 1.0:
            return 1.0
        excess, room, gap = divergence(p, q) - cost, q * (1.0 - q), q - p
        newton = excess * room / gap
        bend = 0.5 * newton * (room / gap + 2.0 * q - 1.0) / room  # of kl'' / kl'
        step = newton / (1.0 - bend) if abs(bend) < 0.5 else newton
        q = min(max(q - step, 0.5 * (p + q)), top)
        if abs(step) * step * step < NEAR * gap * gap * (1.0 - q):
            break
    return q
