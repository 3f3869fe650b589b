"""One pass over the log: what estimates need of each decision and of each arm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.types import Indices, Matrix, Vector

from .logged import Logged, Source
from .models import Model, asked, by_arm, predicted
from .targets import Target, probabilities

CERTAIN = 1 - 1e-12  # a propensity above this leaves nothing to the other candidates


class Rows(NamedTuple):
    """What is kept of each decision."""

    arms: Indices
    rewards: Vector
    propensities: Vector
    weights: Vector  # the target's probability of the arm shown, divided by its propensity
    chances: Vector  # 1 divided by the number of candidates
    predictions: Vector  # of the arm shown, by the model
    values: Vector  # of the target, by the model
    units: Indices


class Gathered(NamedTuple):
    """What is kept of a log."""

    rows: Rows
    exposures: Vector  # of each arm under the target, on average
    unsupported: Vector  # the part of it that the log cannot speak of
    asked: Matrix  # of the model, by the target


def gathered(source: Source, wanted: Target, model: Model | None) -> Gathered:
    """Go through the log once."""
    rows: list[Rows] = []
    exposures, unsupported, shows = (np.zeros(len(source.names)) for _ in range(3))
    questions, start = np.zeros((1, 1)), 0
    for piece in source.pieces():
        shares = probabilities(wanted, piece, start)
        rows.append(_kept(piece, shares, model, start))
        exposures += by_arm(piece, shares)
        unsupported += by_arm(piece, np.where(_never_drawn(piece), shares, 0.0))
        shows += np.bincount(piece.arms, minlength=len(shows))
        if model is not None:
            questions = questions + asked(piece, shares)
        start += len(piece.arms)
    unsupported = np.where(shows == 0, exposures, unsupported)
    joined = Rows(*(np.concatenate(column) for column in zip(*rows, strict=True)))
    return Gathered(joined, exposures / start, unsupported / start, questions)


def _kept(piece: Logged, shares: Matrix, model: Model | None, start: int) -> Rows:
    each, positions = np.arange(len(piece.arms)), piece.positions()
    expected = np.zeros(shares.shape) if model is None else predicted(model, piece, start)
    return Rows(
        arms=piece.arms,
        rewards=piece.rewards,
        propensities=piece.propensities,
        weights=shares[each, positions] / piece.propensities,
        chances=1.0 / (piece.all_candidates() >= 0).sum(axis=1),
        predictions=expected[each, positions],
        values=np.einsum("rs,rs->r", shares, expected),
        units=each + start if piece.units is None else piece.units,
    )


def _never_drawn(piece: Logged) -> npt.NDArray[np.bool_]:
    """Tell which candidates the logging policy could not have shown."""
    if piece.probabilities is not None:
        return np.asarray(piece.probabilities <= 0)
    others = piece.all_candidates() != piece.arms[:, None]
    return np.asarray(others & (piece.propensities > CERTAIN)[:, None])
