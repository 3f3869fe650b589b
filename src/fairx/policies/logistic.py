"""Logistic regression kept up to date: what policies for rewards of 0 or 1 learn from.

The posterior of the parameter is kept normal by assumed density filtering (Opper 1998, Minka 2001): the
prior N(m, V^-1) times the likelihood of one reward has, along the context x, a mean and a variance that
one integral gives, and the new normal has these. Off the context nothing changes, so the factors of
`Ridge` follow by one rank-one change, and a reward costs O(d^2). It is variational: of all normals the new
one has the least divergence from the exact product. docs/policies.md compares it with Laplace's update.
"""

from __future__ import annotations

import math

from fairx import rules
from fairx.compiled import kernel, meet, outlined, turns
from fairx.numerics.elementary import chance, exp
from fairx.numerics.linear_algebra import add_outer, dot, triangle_times
from fairx.types import Vector

from .ridge import Ridge, refactor

SEARCH, NEAR = 100, 1e-3  # the mode is where the sum is centred: it need not be exact
REACH, STEP, WIDEST, MOST = 8.0, 0.75, 0.6, 400  # of the sum, in deviations and as it is
LEAST = 1e-30  # what one reward adds to the precision
SHRUNK = 1e-3  # one reward leaves at least this part of the variance


@kernel
def update_posterior(state: Ridge, context: Vector, reward: float, work: Vector) -> None:
    """Let the posterior learn from one reward; one beyond 0 to 1 counts as the nearer end."""
    d = len(context)
    turned, gain = work[:d], work[d : 2 * d]
    state.observations[0] += 1.0
    triangle_times(state.factor, context, turned)
    variance = 0.0
    for j in range(d):
        variance += state.scales[j] * turned[j] * turned[j]
    if variance > 0.0:
        centre = dot(context, state.estimate)
        surprise, weight = tilted(centre, variance, min(max(reward, 0.0), 1.0))
        root = math.sqrt(weight)
        meet()
        for j in turns(d):
            turned[j] *= root
        refactor(state, turned, gain)  # gain is now V^-1 x root, of the V of before
        pull = centre * weight + surprise * (1.0 + variance * weight)
        for i in turns(d):
            state.estimate[i] += surprise / root * gain[i]
        for i in turns(len(state.target)):
            state.target[i] += pull * context[i]
        add_outer(state.precision, weight, context, context)


@outlined
def tilted(centre: float, variance: float, reward: float) -> tuple[float, float]:
    """Return what one reward says of z = x . theta, which was N(centre, variance).

    With p = chance(z) under the density that is proportional to N(z) p^reward (1 - p)^(1 - reward):
    reward - E p, which times the variance moves the mean of z; and the precision that is gained,
    k / (1 - variance k), k = E p (1 - p) - Var p. Both are exact identities of Gaussian integrals.
    The integrals are trapezoidal sums, which are right to about 1e-14 here: the integrand is smooth and
    its poles lie pi off the line.

    Examples
    --------
    >>> surprise, weight = tilted(centre=0.0, variance=1.0, reward=1.0)
    >>> round(surprise, 6), round(weight, 6)
    (0.413242, 0.205936)
    """
    deviation = math.sqrt(variance)
    middle = mode(centre, variance, reward)
    number = min(int(REACH * deviation / min(STEP * deviation, WIDEST)) + 1, MOST)
    step, start = REACH * deviation / number, chance(middle)
    top = log_parts(middle, centre, variance, reward)
    total = first = second = slope = 0.0
    for i in range(-number, number + 1):
        z = middle + i * step
        p, rest = chance(z), chance(-z)
        # p^reward (1 - p)^(1 - reward) is exp of the rest times this, and never overflows.
        weight = exp(log_parts(z, centre, variance, reward) - top) * max(p, rest)
        gap = p - start
        total += weight
        first += weight * gap
        second += weight * gap * gap
        slope += weight * p * rest
    moved = first / total
    gain = max(slope / total - (second / total - moved * moved), LEAST)
    return reward - start - moved, gain / max(1.0 - variance * gain, SHRUNK)


@kernel
def log_parts(z: float, centre: float, variance: float, reward: float) -> float:
    """Return the logarithm of the tilted density, but for what lies between 1/2 and 1."""
    return reward * z - max(z, 0.0) - 0.5 * (z - centre) * (z - centre) / variance


@kernel
def mode(centre: float, variance: float, reward: float) -> float:
    """Return about where the tilted density is highest, by Newton's steps between two ends."""
    low, high = centre + variance * (reward - 1.0), centre + variance * reward
    z = centre
    for _ in range(SEARCH):
        p = chance(z)
        slope = (centre - z) / variance + reward - p
        low, high = (z, high) if slope > 0.0 else (low, z)
        step = slope / (1.0 / variance + p * (1.0 - p))
        if abs(step) <= NEAR * min(math.sqrt(variance), 1.0):
            break
        z = z + step if low < z + step < high else 0.5 * (low + high)
    return z


def check_chances(low: float, high: float) -> None:
    """Refuse rewards that are not chances of success.

    Examples
    --------
    >>> check_chances(0.0, 5.0)
    Traceback (most recent call last):
    InvalidValue: reward_range must be within 0 to 1, not 0 to 5: a logistic policy learns chances
    """
    if low < 0.0 or high > 1.0:
        rule = f"be within 0 to 1, not {low:g} to {high:g}: a logistic policy learns chances"
        raise rules.InvalidValue("reward_range", rule)


def check_looks(least: float) -> None:
    """Refuse places that may not be looked at: their clicks are not logistic in the context."""
    if least < 1.0:
        rule = f"be 1 for each place, not {least:g}: a logistic policy cannot learn from places "
        raise rules.InvalidValue("examination", rule + "that may not be looked at")
