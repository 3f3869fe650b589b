"""Confidence sequences: intervals that hold at every look at once, however the log was made."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.types import Indices, Vector

BETS = 0.9 * 2.0 ** (-np.arange(40) / 2)  # from bold, for few decisions, to timid, for a billion
COSTS = -np.log1p(-BETS) - BETS
ODDS = np.log(1 / (np.arange(40) + 3)) - math.log(sum(1 / (np.arange(40) + 3)))


class Looks(NamedTuple):
    """An interval after each of some numbers of decisions."""

    decisions: Indices
    lows: Vector
    highs: Vector


def confidence_sequence(
    weights: npt.ArrayLike,
    rewards: npt.ArrayLike,
    alpha: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    weight_bound: float | None = None,
    looks: npt.ArrayLike | None = None,
    level: float | None = None,
) -> Looks:
    """Return intervals for the mean of w r over the decisions so far, valid at all times at once.

    Parameters
    ----------
    weights, rewards
        In the order of time: the target's probability of the arm shown divided by its
        propensity, given what was known then; and what the arm brought.
    alpha
        The chance, at most, that any interval ever looked at misses.
    reward_range
        What rewards are between, known beforehand.
    weight_bound
        What weights cannot exceed, known beforehand. It is not needed; it makes the upper end
        better where rewards are rare, and supposes that the mean of a weight is 1.
    looks
        After how many decisions; without, about 200 of them, closer together at the start.
    level
        The old spelling of `alpha`: 1 - alpha.

    Notes
    -----
    With x = w r, r scaled to 0..1, and y a guess from 0 to 1 made before x was seen,
    E exp(b (x - E x) - c(b) (x - y)^2) <= 1, c(b) = -log(1 - b) - b, since x - y >= -1 (Fan,
    Grama and Liu 2015; Waudby-Smith et al. 2022, arXiv 2210.10768): no weight is too large, and
    propensities may depend on all of the past. A weighted average of the products over 40 values of b
    stays below 1/alpha for ever with probability 1 - alpha. The lower end is where it is reached;
    the upper end is the lower one of w (1 - r), whose mean is 1 less that of w r. As b does not
    change with time, the interval is for the average value so far even where the value drifts.
    Weights that are too small (clipped, or without support) leave it valid without a `weight_bound`: both
    ends move out.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rewards = rng.random(1000) < 0.3
    >>> found = confidence_sequence(np.ones(1000), rewards, looks=[10, 100, 1000])
    >>> found.lows.round(2), found.highs.round(2)
    (array([0.  , 0.1 , 0.25]), array([1.  , 0.5 , 0.36]))
    """
    weights = rules.array("weights", weights, (None,))
    scaled = scaled_rewards(rewards, reward_range, weights.shape)
    after = chosen_looks(looks, rules.count("the number of decisions", weights.size))
    error = chance_of_error(alpha, level) / 2  # of either end
    lows = lower(weights * scaled, 0.5, after, error)
    if weight_bound is None:
        highs = 1 - lower(weights * (1 - scaled), 0.5, after, error)
    else:
        bound = rules.number("weight_bound", weight_bound, low=max(1.0, float(weights.max())))
        highs = -lower(-weights * scaled, -0.5, after, error, reach=bound)
    return unscaled(after, lows, highs, reward_range)


def scaled_rewards(
    rewards: npt.ArrayLike, reward_range: tuple[float, float], shape: tuple[int | None, ...]
) -> Vector:
    """Return rewards from 0 to 1; refuse those outside of the range."""
    low, high = rules.interval("reward_range", reward_range)
    scaled = (rules.array("rewards", rewards, shape) - low) / (high - low)
    if scaled.size and not 0 <= scaled.min() <= scaled.max() <= 1:
        wrong = np.asarray(rewards)[np.argmax((scaled < 0) | (scaled > 1))]
        remedy = "give the range known beforehand as reward_range"
        raise ValueError(f"rewards must be from {low:g} to {high:g}, not {wrong:g}: {remedy}")
    return scaled


def unscaled(after: Indices, lows: Vector, highs: Vector, ends: tuple[float, float]) -> Looks:
    """Return looks in the range of rewards."""
    low, high = ends
    return Looks(after, *(low + (high - low) * np.clip(end, 0, 1) for end in (lows, highs)))


def chance_of_error(alpha: float, level: float | None) -> float:
    """Return alpha, also where it is given by its old spelling; a level would be too large for it."""
    if level is None:
        return rules.number("alpha", alpha, low=1e-12, high=0.5)
    warnings.warn("level= is now alpha=, which is 1 - level", DeprecationWarning, stacklevel=3)
    return 1 - rules.number("level", level, low=0.5, high=1 - 1e-12)


def lower(values: Vector, guess: float, after: Indices, error: float, reach: float = 1.0) -> Vector:
    """Return lower ends for the mean of `values`, none of which is below any guess less `reach`."""
    sums = np.cumsum(values)
    guesses = (guess + sums - values) / np.arange(1, values.size + 1)
    guesses = np.clip(guesses, guess - 0.5, guess + 0.5)
    spread = np.cumsum(((values - guesses) / reach) ** 2)[after - 1]
    return np.asarray((sums[after - 1] - reach * boundary(spread, error)) / after)


def boundary(spread: Vector, error: float) -> Vector:
    """Return the s at which the average of exp(b s - c(b) spread) over the bets is 1 / error.

    Newton's method on a convex function, from above: every step stays above, so that stopping
    early would only make the interval wider.
    """
    needed, costs = math.log(1 / error), COSTS * spread[:, None] - ODDS
    found = np.min((needed + costs) / BETS, axis=1)  # where one of them is enough
    for _ in range(50):
        powers = BETS * found[:, None] - costs
        top = powers.max(axis=1)
        parts = np.exp(powers - top[:, None])
        excess = top + np.log(parts.sum(axis=1)) - needed
        step = excess * parts.sum(axis=1) / (parts @ BETS)
        found = found - step
        if (step <= 1e-12 * found).all():
            break
    return np.asarray(found)


def evidence(excess: Vector, spread: Vector) -> Vector:
    """Return the logarithm of the average of exp(b excess - c(b) spread) over the bets."""
    powers = BETS * excess[..., None] - COSTS * spread[..., None] + ODDS
    top = powers.max(axis=-1)
    found: Vector = top + np.log(np.exp(powers - top[..., None]).sum(axis=-1))
    return found


def chosen_looks(looks: npt.ArrayLike | None, decisions: int) -> Indices:
    """Return after how many decisions to look."""
    if looks is None:
        return np.unique(np.geomspace(1, decisions, 200).round().astype(np.int64))
    found = np.asarray(looks)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not found.size:
        raise ValueError(f"looks must be a list of numbers of decisions, not {looks!r}")
    if found.min() < 1 or found.max() > decisions:
        raise ValueError(f"looks must be from 1 to {decisions} decisions, not {looks!r}")
    return found.astype(np.int64)
