"""Whether the target policy would be fair: its exposure beside what the log says that arms earn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.merit import Merit
from fairx.types import Indices, Matrix, Vector

from .gathering import Rows, pieces
from .logged import Source
from .means import Ends, Means, arm_means
from .targets import Target, probabilities

DRAWS = 40  # of what the means could be
ASKED = 64  # decisions of a piece that the draws are asked about


class Fairness(NamedTuple):
    """The exposure of the target beside the share that each arm's mean reward earns.

    All intervals are from a box that holds the means of all arms at every look, with a chance of
    1 - alpha, where the mean of an arm is the same in all decisions.
    """

    merit: str
    means: Means
    fair: Vector  # the share that each arm earns, by the means of the log
    fair_lows: Vector
    fair_highs: Vector
    ratios: Vector  # exposure over fair share: below 1 the arm gets too little
    ratio_lows: Vector
    ratio_highs: Vector
    verdicts: tuple[str, ...]  # under, over, unclear
    regret: float  # mean of the sum over arms of |probability - fair probability|, from 0 to 2
    regret_low: float
    regret_high: float
    regret_floor: float  # what a policy shows that is exactly fair, as means are estimated

    def summary(self) -> dict[str, Any]:
        """Return what is known of the whole policy, as plain values."""
        names = ("merit", "regret", "regret_low", "regret_high", "regret_floor")
        counts = {kind: self.verdicts.count(kind) for kind in ("under", "over", "unclear")}
        return {name: _plain(getattr(self, name)) for name in names} | counts

    def rows(self) -> list[dict[str, Any]]:
        """Return what is known of each arm, as plain values."""
        columns: dict[str, Sequence[Any]] = {
            "shows": self.means.shows.tolist(),
            "mean": self.means.means.tolist(),
            "mean_low": self.means.lows.tolist(),
            "mean_high": self.means.highs.tolist(),
            "fair_share": self.fair.tolist(),
            "fair_low": self.fair_lows.tolist(),
            "fair_high": self.fair_highs.tolist(),
            "ratio": self.ratios.tolist(),
            "ratio_low": self.ratio_lows.tolist(),
            "ratio_high": self.ratio_highs.tolist(),
            "verdict": self.verdicts,
        }
        plain = (map(_plain, column) for column in columns.values())
        return [dict(zip(columns, row, strict=True)) for row in zip(*plain, strict=True)]


def fairness(
    source: Source,
    wanted: Target,
    rows: Rows,
    exposures: Vector,
    merit: Merit,
    alpha: float,
    ends: Ends,
) -> Fairness:
    """Return how fair a policy would be, as far as the log tells."""
    if isinstance(merit, type) or not hasattr(merit, "log"):
        raise TypeError(f"merit must be a merit such as Exponential(4), not {merit!r}")
    means = arm_means(rows, exposures.size, alpha, ends)
    logs = np.array([_logs(merit, part) for part in (means.means, means.lows, means.highs)])
    drawn = _drawn(merit, means, ends)
    sums, regrets, count, floor, asked = np.zeros((3, exposures.size)), np.zeros(3), 0, 0.0, 0
    for candidates, shares, number in _offers(source, wanted):
        each = _shares(logs, candidates)
        for total, part in zip(sums, each, strict=True):
            total += number * np.bincount(
                candidates.ravel() + 1, part.ravel(), exposures.size + 1
            )[1:]  # fmt: skip
        regrets += number * _regrets(shares, *each).sum(axis=1)
        some = slice(None, None, max(1, len(candidates) // ASKED))
        floor += _floor(drawn, each[0][some], candidates[some])
        count, asked = count + number * len(candidates), asked + len(candidates[some])
    fair, lows, highs = sums / count
    low, high = _ratio(exposures, highs), _ratio(exposures, lows)
    regret, regret_low, regret_high = (regrets / count).tolist()
    return Fairness(
        repr(merit), means, fair, lows, highs, _ratio(exposures, fair), low, high,
        tuple(map(_verdict, low.tolist(), high.tolist())),
        regret, regret_low, regret_high, floor / asked,
    )  # fmt: skip


def _offers(source: Source, wanted: Target) -> Iterator[tuple[Indices, Matrix, int]]:
    """Go through candidates and the target's probabilities, and how many decisions each row is."""
    start = 0
    for piece in pieces(source, wanted, None):
        shares = probabilities(wanted, piece, start)
        if wanted.same and piece.candidates is None:  # all decisions are alike: one says all
            yield piece.all_candidates()[:1], shares, source.decisions
            return
        yield piece.all_candidates(), shares, 1
        start += len(piece.arms)


def _shares(logs: Matrix, candidates: Indices) -> tuple[Matrix, Matrix, Matrix]:
    """Return fair probabilities, and the lowest and highest over the box: at its corners."""
    there = np.where(candidates < 0, -np.inf, logs[:, candidates])
    middle, low, high = there
    others = _others(there[[0, 2, 1]])
    with np.errstate(invalid="ignore", over="ignore"):  # all merits are 0: shares are unknown
        found = 1.0 / (1.0 + np.exp(others - np.stack([middle, low, high])))
    return tuple(np.where(candidates < 0, 0.0, part) for part in found)  # type: ignore[return-value]


def _others(logs: Vector) -> Vector:
    """Return the logarithm of the sum of all others; the largest is not taken from a sum that it is."""
    largest = np.arange(logs.shape[-1]) == logs.argmax(axis=-1)[..., None]
    smaller = np.where(largest, -np.inf, logs)
    total = _log_sum(logs)
    parts = np.exp(smaller - np.where(np.isfinite(total), total, 0.0))
    return np.asarray(np.where(largest, _log_sum(smaller), total + np.log1p(-parts)))


def _log_sum(logs: Vector) -> Vector:
    top = logs.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):  # none at all
        return np.asarray(top + np.log(np.exp(logs - top).sum(axis=-1, keepdims=True)))


def _regrets(shares: Matrix, fair: Matrix, low: Matrix, high: Matrix) -> Matrix:
    """Return the regret of each decision, and its ends.

    Both sum to 1: the regret is twice what arms have too much, and twice what they have too little.
    """
    above, below = (shares - high).clip(0).sum(axis=1), (low - shares).clip(0).sum(axis=1)
    most = np.minimum((shares - low).clip(0).sum(axis=1), (high - shares).clip(0).sum(axis=1))
    found = np.abs(shares - fair).sum(axis=1)
    return np.stack([found, 2 * np.maximum(above, below), 2 * most])


def _floor(drawn: Matrix, fair: Matrix, candidates: Indices) -> float:
    """Return the sum of distances of what is fair for other means that there could be."""
    others = (_shares(np.stack([logs] * 3), candidates)[0] for logs in drawn)
    return float(np.mean([np.abs(other - fair).sum() for other in others]))


def _drawn(merit: Merit, means: Means, ends: Ends) -> Matrix:
    rng = np.random.default_rng(0)  # the same log has the same floor
    noise = rng.standard_normal((DRAWS, means.means.size))
    return np.array(
        [_logs(merit, row) for row in np.clip(means.means + means.errors * noise, *ends)]
    )


def _logs(merit: Merit, means: Vector) -> Vector:
    return np.array([merit.log(mean) for mean in means.tolist()])


def _ratio(exposures: Vector, fair: Vector) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(exposures == fair, 1.0, exposures / fair))


def _verdict(low: float, high: float) -> str:
    return "under" if high < 1 else "over" if low > 1 else "unclear"


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
