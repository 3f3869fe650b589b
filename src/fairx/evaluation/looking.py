"""The interval of an evaluation: for one look, or at every look; or why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Vector

from . import intervals
from .bounded import doubly_robust_sequence, self_normalised_sequence
from .gathering import Gathered
from .sequences import Looks, confidence_sequence, scaled_rewards
from .support import widened
from .terms import Terms
from .withholding import reasons


class Asked(NamedTuple):
    """Which interval of which estimate."""

    estimator: str
    interval: str
    alpha: float
    resamples: int
    seed: int | None
    ends: tuple[float, float] = (0.0, 1.0)  # of rewards
    weight_bound: float | None = None
    given: bool = False  # whether the ends are known, or only those of the rewards that there are


class Found(NamedTuple):
    """An interval, nan where it is withheld."""

    low: float
    high: float
    withheld: tuple[str, ...] = ()
    looks: Looks | None = None


def interval_of(
    asked: Asked,
    terms: Terms,
    found: Gathered,
    weights: Vector,
    names: Sequence[Any],
    lost: Vector | None = None,
) -> Found:
    """Return the interval that was asked for, as far as the log allows one.

    `lost` is each decision's probability without support, where there is any: a sequence needs it.
    """
    if asked.interval == "sequence":
        looks = _sequence(asked, terms, found, weights, lost)
        return Found(float(looks.lows[-1]), float(looks.highs[-1]), looks=looks)
    intervals.standard_error(terms)  # refuses a single unit
    withheld = reasons(terms, found, names, asked.estimator, asked.interval)
    if withheld:
        return Found(math.nan, math.nan, withheld)
    if asked.interval == "bootstrap":
        ends = intervals.bootstrap(terms, asked.alpha, asked.resamples, asked.seed)
    else:
        ends = intervals.normal(terms, asked.alpha)
    lacking = float(found.unsupported.sum())
    if weights.sum() < found.rows.weights.sum():  # clipping cut off some of what speaks of it
        lacking = max(lacking, 1 - float(weights.mean()))
    rewards = found.rows.rewards
    reach = asked.ends if asked.given else (float(rewards.min()), float(rewards.max()))
    return Found(*widened(ends, lacking, reach, asked.estimator))


def _sequence(
    asked: Asked, terms: Terms, found: Gathered, weights: Vector, lost: Vector | None
) -> Looks:
    """Return the sequence, wider by what was lost so far; that of ips without a bound is by itself."""
    rewards, bound = found.rows.rewards, asked.weight_bound
    if asked.estimator == "ips":
        looks = confidence_sequence(weights, rewards, asked.alpha, asked.ends, bound)
        return looks if bound is None else _wider(looks, lost, asked.ends)
    if bound is None:
        remedy = "the policy's largest probability divided by the smallest that the log's has"
        raise ValueError(
            f"weight_bound must be given for the sequence of {asked.estimator!r}, not left out: what "
            f"weights cannot exceed, known beforehand, such as {remedy}; 'ips' needs none"
        )
    if asked.estimator == "snips":
        looks = self_normalised_sequence(weights, rewards, bound, asked.alpha, asked.ends)
    else:
        scaled_rewards(rewards, asked.ends, (None,))  # refuses rewards outside
        looks = doubly_robust_sequence(terms.numerators, weights, bound, asked.alpha, asked.ends)
    return _wider(looks, lost, asked.ends)


def _wider(looks: Looks, lost: Vector | None, ends: tuple[float, float]) -> Looks:
    if lost is None:
        return looks
    low, high = ends
    reach = (high - low) * np.cumsum(lost)[looks.decisions - 1] / looks.decisions
    lows, highs = (looks.lows - reach).clip(low, high), (looks.highs + reach).clip(low, high)
    return Looks(looks.decisions, lows, highs)
