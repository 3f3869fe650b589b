"""What each estimator adds up over decisions: every estimate is a ratio of two sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.types import Indices, Vector

from .gathering import Gathered, Rows
from .logged import Source
from .models import Model, leverages

EVEN = 1e-5  # of 1,000 candidates that is 1 %: a logged probability may be rounded more than that
ALONE = (
    1e-9  # a reward whose prediction leaves less than this to others has been predicted by itself
)


class Terms(NamedTuple):
    """The estimate is the sum of `numerators` divided by that of `denominators`.

    Examples
    --------
    >>> one = np.ones(2)
    >>> Terms(np.array([1.0, 0.0]), one, None, one).estimate()
    0.5
    """

    numerators: Vector
    denominators: Vector
    units: Indices | None  # none: each term is one
    coefficients: Vector  # how much each reward counts

    def estimate(self) -> float:
        """Return the ratio."""
        return float(self.numerators.sum() / self.denominators.sum())


def ips(rows: Rows, weights: Vector) -> Terms:
    """Return the terms of inverse propensity scoring: mean of w r."""
    return Terms(weights * rows.rewards, _ones(weights), rows.units, weights)


def snips(rows: Rows, weights: Vector) -> Terms:
    """Return the terms of the self-normalised form: sum of w r / sum of w."""
    if not weights.any():
        raise ValueError(
            "the policy must show an arm that was shown in some decision, not none of them: "
            "without any weight there is nothing to divide by"
        )
    return Terms(weights * rows.rewards, weights, rows.units, weights)


def doubly_robust(rows: Rows, weights: Vector) -> Terms:
    """Return the terms of the doubly robust estimate: mean of q(pi) + w (r - q(a))."""
    assert rows.values is not None
    assert rows.predictions is not None
    numerators = rows.rewards - rows.predictions
    numerators *= weights
    numerators += rows.values
    return Terms(numerators, _ones(weights), rows.units, weights)


def stabilised(rows: Rows, weights: Vector) -> Terms:
    """Return the terms of the doubly robust estimate, those of calm decisions counting more.

    A decision counts in proportion to 1 / sqrt(E w^2), known before its arm was drawn: the terms
    then vary alike, whatever the logging policy learned (Hadad et al. 2021).
    """
    assert rows.variances is not None
    plain = doubly_robust(rows, weights)
    calm = 1.0 / np.sqrt(np.maximum(rows.variances, 1e-300))
    return Terms(calm * plain.numerators, calm, rows.units, calm * weights)


def direct(source: Source, model: Model, found: Gathered) -> Terms:
    """Return the terms of the direct method: mean of q(pi), the model's value of the policy.

    To each term its reward's own part in the model is added, which changes the mean by nothing:
    the spread of the terms is then that of the estimate (the delta method), the model's included.
    A reward pulls its own prediction to itself: what is left of it is enlarged to what it was. A reward
    that is predicted by itself alone is set beside the mean of all.
    """
    rows, start = found.rows, 0
    assert rows.values is not None
    assert rows.predictions is not None
    counted, own = np.empty((2, len(rows.values)))
    for piece in source.pieces():
        end = start + len(piece.arms)
        counted[start:end], own[start:end] = leverages(model, piece, found.asked)
        start = end
    if rows.units is not None:  # rewards of one unit may be alike: they predict each other
        pairs = np.stack([rows.units, rows.arms])
        _, which, counts = np.unique(pairs, axis=1, return_inverse=True, return_counts=True)
        own *= counts[which.ravel()]
    left, alone = rows.rewards - rows.predictions, own > 1 - ALONE
    own[alone] = 0.0
    left /= np.sqrt(np.subtract(1.0, own, out=own), out=own)
    left[alone] = rows.rewards[alone] - rows.rewards.mean()
    left *= counted
    left += rows.values - left.mean()
    return Terms(left, _ones(left), rows.units, counted)


def replayed(rows: Rows, seed: int | None) -> Terms:
    """Return the terms of replay: the mean reward of the decisions that the target agrees with.

    A decision is accepted with probability pi(a) n / m, of n candidates, m the most there ever
    are: accepted decisions are then distributed as if the target had made them. Without a seed
    the sum is over both outcomes of each draw, weighted by their probabilities.
    """
    assert rows.chances is not None
    assert rows.propensities is not None
    wrong = np.abs(rows.propensities - rows.chances) > EVEN
    if wrong.any():
        where = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"propensities must be uniform over the candidates for replay, {rows.chances[where]:g}"
            f" at {where}, not {rows.propensities[where]:g}: use estimator='snips'"
        )
    accepted = rows.weights * rows.chances.min()
    if seed is not None:
        rng = np.random.default_rng(rules.count("seed", seed, low=0))
        accepted = (rng.random(len(accepted)) < accepted).astype(np.float64)
    return snips(rows, accepted)


def _ones(like: Vector) -> Vector:
    return np.broadcast_to(1.0, like.shape)  # takes no memory
