"""Confidence sequences that need a bound on weights: self-normalised, and doubly robust."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.types import Indices, Vector

from .sequences import Looks, chosen_looks, evidence, lower, scaled_rewards, unscaled

GRID = np.linspace(0.0, 1.0, 129)  # values that are asked whether the log speaks against them
STEPS = 40  # of bisection between two of them
LEAST = 0.05  # bets are for reaches of about one size


def doubly_robust_sequence(
    terms: npt.ArrayLike,
    weights: npt.ArrayLike,
    weight_bound: float,
    alpha: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    looks: npt.ArrayLike | None = None,
) -> Looks:
    """Return intervals for the mean of q(pi) + w (r - q(a)) so far, valid at all times at once.

    Parameters
    ----------
    terms
        q(pi) + w (r - q(a)) of each decision, in the order of time, q between the ends of
        `reward_range` and learned from earlier decisions alone.
    weights
        The weights w in them.
    weight_bound
        What weights cannot exceed, known beforehand.
    alpha, reward_range, looks
        As for `confidence_sequence`.

    Notes
    -----
    The mean of a term, given all before it, is the value of the policy then, whatever the model: it
    does not know its own reward. With rewards scaled to 0..1 a term is from -W to 1 + W, so that the
    bound of `confidence_sequence` holds for it on either side with a reach of 1 + W. The
    interval is for the average value so far, also where the value drifts.

    Examples
    --------
    >>> rewards = np.random.default_rng(1).random(1000) < 0.3
    >>> found = doubly_robust_sequence(rewards, np.ones(1000), weight_bound=1, looks=[1000])
    >>> found.lows.round(2), found.highs.round(2)
    (array([0.25]), array([0.36]))
    """
    values = rules.array("terms", terms, (None,))
    bound = _bounded(weights, weight_bound, values.shape)
    low, high = reward_range
    scaled = (values - low) / (high - low)
    after = chosen_looks(looks, values.size)
    lows = lower(scaled, 0.5, after, alpha / 2, reach=1 + bound)
    highs = -lower(-scaled, -0.5, after, alpha / 2, reach=1 + bound)
    return unscaled(after, lows, highs, reward_range)


def self_normalised_sequence(
    weights: npt.ArrayLike,
    rewards: npt.ArrayLike,
    weight_bound: float,
    alpha: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    looks: npt.ArrayLike | None = None,
) -> Looks:
    """Return intervals for the value v of which w (r - v) has mean 0, valid at all times at once.

    Parameters
    ----------
    weights, rewards, alpha, reward_range, looks
        As for `confidence_sequence`. The mean of a weight must be 1: none clipped, no support missing.
    weight_bound
        What weights cannot exceed, known beforehand.

    Notes
    -----
    For each v, E exp(b x - b E x - c(b) x^2) <= 1 for x = w (r - v) / (W v), which is at least -1; its
    mean is 0 at the value of the policy. The interval is from the lowest to the highest v that the log
    does not speak against, of 129 in between whose ends are then made exact. It holds at all looks where the
    value stays the same; where it drifts, for the average so far at one look. It is better than that of
    w r where rewards are far from 0 and decisions are many beside W.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> weights = 2.0 * (rng.random(1000) < 0.5)
    >>> rewards = 0.8 + 0.1 * rng.random(1000)  # far from 0: weights alone make w r vary
    >>> found = self_normalised_sequence(weights, rewards, weight_bound=2, looks=[1000])
    >>> found.lows.round(2), found.highs.round(2)
    (array([0.84]), array([0.86]))
    """
    found = rules.array("weights", weights, (None,))
    bound = _bounded(found, weight_bound, found.shape)
    scaled = scaled_rewards(rewards, reward_range, found.shape)
    after = chosen_looks(looks, found.size)
    lows = _lowest(found, scaled, after, alpha / 2, bound)
    highs = 1 - _lowest(found, 1 - scaled, after, alpha / 2, bound)
    return unscaled(after, lows, highs, reward_range)


def _bounded(weights: npt.ArrayLike, bound: float, shape: tuple[int, ...]) -> float:
    largest = float(rules.array("weights", weights, shape).max())
    return rules.number("weight_bound", bound, low=max(1.0, largest))


def _lowest(weights: Vector, rewards: Vector, after: Indices, error: float, bound: float) -> Vector:
    """Return the lowest value that the log does not speak against, after each look."""
    squares = weights * weights
    columns = (weights, weights * rewards, squares, squares * rewards, squares * rewards * rewards)
    sums = np.array([np.cumsum(column)[after - 1] for column in columns])[:, :, None]
    fits = _fits(sums, np.broadcast_to(GRID, (after.size, GRID.size)), error, bound)
    first = np.argmax(fits, axis=1)  # the last always fits: no reward is above it
    inside, outside = GRID[first], GRID[np.maximum(first - 1, 0)]
    for _ in range(STEPS):
        half = 0.5 * (inside + outside)
        there = _fits(sums, half[:, None], error, bound)[:, 0]
        inside, outside = np.where(there, half, inside), np.where(there, outside, half)
    return np.asarray(outside)


def _fits(sums: Vector, values: Vector, error: float, bound: float) -> npt.NDArray[np.bool_]:
    """Tell which values are not too low for the log."""
    weight, product, square, mixed, second = sums
    reach = bound * np.maximum(values, LEAST)  # w (r - v) is at least - w v
    excess = (product - values * weight) / reach
    spread = np.maximum(second - 2 * values * mixed + values**2 * square, 0.0) / reach**2
    return np.asarray(evidence(excess, spread) < -math.log(error))
