"""What the rewards of a log say of each arm's mean, merit and fair share."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx.auditing.always_valid import Intervals
from fairx.merit import Merit
from fairx.types import Vector

from .result import Arm
from .shares import fair_shares, share_errors
from .spread import means_within
from .sums import LogSums

NORMAL = NormalDist().inv_cdf(0.975)


class Rewarded(Protocol):
    """What means are told from, of a log of decisions or of slates: vectors are over arms."""

    @property
    def arms(self) -> list[Any]:
        """Return their names."""

    @property
    def shows(self) -> Vector:
        """Return how often each was shown."""

    @property
    def rewards(self) -> Vector:
        """Return how many rewards came."""

    @property
    def reward_sums(self) -> Vector:
        """Return what they add up to."""

    @property
    def squares(self) -> Vector:
        """Return what their squares add up to."""


class Merits(NamedTuple):
    """Means, the box that holds them at all times, and the logarithms of their merits."""

    means: Vector
    box: Intervals
    logs: Vector
    log_box: Intervals
    log_bounds: Intervals | None  # the same whatever the missing rewards were, where some are


def estimated(
    sums: Rewarded,
    merit: Merit,
    alpha: float,
    reward_range: tuple[float, float],
    looked: Vector | float = 1.0,
) -> Merits:
    """Return the merits of all arms, with a box that holds all means at once.

    `looked` is how often what was shown was looked at, where rewards are clicks.
    """
    if not sums.rewards.sum():
        raise ValueError("the log must have a reward, but all are missing")
    box = means_within(
        sums.reward_sums, sums.squares, sums.rewards, alpha / len(sums.arms), *reward_range
    )
    means = means_of(sums, reward_range, looked)
    box = Intervals(*(np.clip(end / looked, *reward_range) for end in box))
    logs, *ends = (logs_of(merit, part) for part in (means, *box))
    bounds = _bounds(sums, merit, alpha / len(sums.arms), reward_range, looked)
    return Merits(means, box, logs, Intervals(*ends), bounds)


def means_of(
    sums: Rewarded, reward_range: tuple[float, float], looked: Vector | float = 1.0
) -> Vector:
    """Return the mean reward of each arm; that of all is the best guess for one without rewards."""
    counts = looked * sums.rewards
    overall = sums.reward_sums.sum() / counts.sum() if counts.any() else reward_range[0]
    means = np.where(counts > 0, sums.reward_sums / np.where(counts > 0, counts, 1.0), overall)
    return np.asarray(np.clip(means, *reward_range))


def _bounds(
    sums: Rewarded,
    merit: Merit,
    alpha: float,
    reward_range: tuple[float, float],
    looked: Vector | float,
) -> Intervals | None:
    """Return the box with each missing reward at either end of what is possible."""
    missing = sums.shows - sums.rewards
    if not missing.any():
        return None
    least, most = (
        means_within(
            sums.reward_sums + missing * end,
            sums.squares + missing * end**2,
            sums.shows,
            alpha,
            *reward_range,
        )
        for end in reward_range
    )
    low, high = (np.clip(end / looked, *reward_range) for end in (least.low, most.high))
    return Intervals(logs_of(merit, low), logs_of(merit, high))


def logs_of(merit: Merit, means: Vector) -> Vector:
    """Return the logarithms of the merits of means."""
    return np.array([merit.log(mean) for mean in means.tolist()])


def described(
    sums: LogSums, merit: Merit, merits: Merits, groups: list[str | None]
) -> tuple[Arm, ...]:
    """Return what is known of each arm's rewards."""
    low, high = _delta(sums, merit, merits)
    nothing = [None] * len(sums.arms)
    late = nothing if sums.late is None else sums.late.astype(np.int64).tolist()
    known = zip(sums.delays.tolist(), sums.delayed.tolist(), strict=True)
    delays = [total / number if number else None for total, number in known]
    columns = (
        sums.rewards.astype(np.int64).tolist(),
        (sums.shows - sums.rewards).astype(np.int64).tolist(),
        late,
        delays,
        *(part.tolist() for part in (merits.means, *merits.box)),
        *(np.exp(part).tolist() for part in (merits.logs, *merits.log_box)),
        low,
        high,
        groups,
    )
    return tuple(Arm(*row) for row in zip(*columns, strict=True))


def _delta(
    sums: LogSums, merit: Merit, merits: Merits
) -> tuple[list[float | None], list[float | None]]:
    """Return the ends of 95 % intervals of the fair shares: one arm, one look."""
    half = NORMAL * errors_of(sums, merit, merits)
    fair = fair_shares(sums.pools, merits.logs)
    return _finite(fair - half), _finite(fair + half)


def errors_of(
    sums: LogSums, merit: Merit, merits: Merits, enough: float = 0.0, most: float = 0.0
) -> Vector:
    """Return the standard errors of the fair shares by the delta method.

    Means of fewer than `enough` rewards vary by `most`: few that happen to be alike say little.
    """
    counts = np.maximum(sums.rewards, 1)
    variances = np.maximum(sums.squares / counts - merits.means**2, 0.0)
    variances = np.where(counts < enough, most, variances) / counts
    variances = np.where(sums.rewards > 0, variances, np.inf)
    slopes = np.array([merit.log_slope(mean) for mean in merits.means.tolist()])
    return share_errors(sums.pools, merits.logs, slopes, variances)


def _finite(values: Vector) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]
