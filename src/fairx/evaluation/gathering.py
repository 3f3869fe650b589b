"""One pass over the log: what estimates need of each decision and of each arm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.types import Indices, Matrix, Vector

from .logged import Logged, Source, narrow
from .models import Model, asked, by_arm, expected, shared
from .targets import Target, probabilities

CERTAIN = 1 - 1e-12  # a propensity above this leaves nothing to the other candidates
SAME = 1e-9  # propensities of an arm that differ by more are not the same
UNLIKE = (
    "decisions must be alike for estimator='stabilised', not with contexts, fewer candidates or a policy "
    "that is another for each: those that are calm count more, whose value may differ: use 'dr'"
)


class Rows(NamedTuple):
    """What is kept of each decision."""

    arms: Indices
    rewards: Vector
    weights: Vector  # the target's probability of the arm shown, divided by its propensity
    predictions: Vector | None = None  # of the arm shown, by the model
    values: Vector | None = None  # of the target, by the model
    variances: Vector | None = None  # of the weight, where all probabilities were logged
    units: Indices | None = None  # none: each decision is one
    propensities: Vector | None = None  # for replay
    chances: Vector | None = None  # for replay: 1 divided by the number of candidates


class Gathered(NamedTuple):
    """What is kept of a log."""

    rows: Rows
    exposures: Vector  # of each arm under the target, on average
    unsupported: Vector  # the part of it that the log cannot speak of
    asked: Matrix  # of the model, by the target
    changing: bool = False  # whether an arm's propensity changed, all else being alike
    pooled: bool = False  # whether some arms are not always on offer


def gathered(source: Source, wanted: Target, model: Model | None, estimator: str) -> Gathered:
    """Go through the log once."""
    kept: dict[str, npt.NDArray[Any]] = {}
    exposures, unsupported, shows, first = (np.zeros(len(source.names)) for _ in range(4))
    questions, start, changing, pooled = np.zeros((1, 1)), 0, False, False
    for piece in pieces(source, wanted, model):
        shares = probabilities(wanted, piece, start)
        pooled = pooled or _pooled(piece)
        if estimator == "stabilised" and (pooled or not wanted.same or piece.contexts is not None):
            raise ValueError(UNLIKE)
        for name, column in _kept(piece, shares, model, start, estimator).items():
            if name not in kept:
                kept[name] = np.empty(source.decisions, column.dtype)
            kept[name][start : start + len(column)] = column
        exposures += by_arm(piece, shares)
        unsupported += _unsupported(piece, shares)
        shows += np.bincount(piece.arms, minlength=len(shows))
        changing = changing or _changing(piece, first)
        if model is not None:
            questions = questions + asked(piece, shares)
        start += len(piece.arms)
    unsupported = np.where(shows == 0, exposures, unsupported)
    return Gathered(
        Rows(**kept), exposures / start, unsupported / start, questions, changing, pooled
    )


def pieces(source: Source, wanted: Target, model: Model | None) -> Iterator[Logged]:
    """Go through a log in pieces that are short where each has a column for every arm."""
    for piece in source.pieces():
        context = piece.contexts is not None
        wide = shared(piece) or (context and model is not None and model.ends is not None)
        whole = wanted.same and piece.candidates is None and not wide
        yield from (piece,) if whole else narrow(piece)


def _kept(
    piece: Logged, shares: Matrix, model: Model | None, start: int, estimator: str
) -> dict[str, Any]:
    """Return the columns that an estimator needs, and no others."""
    row = np.arange(len(piece.arms)) if len(shares) > 1 else 0
    found = {
        "arms": piece.arms.astype(np.int32),
        "rewards": piece.rewards,
        "weights": shares[row, piece.positions()] / piece.propensities,
    }
    if model is not None:
        found["predictions"], found["values"] = expected(model, piece, start, shares)
    if piece.units is not None:
        found["units"] = piece.units
    if estimator == "stabilised":
        found["variances"] = _variances(piece, shares)
    if estimator == "replay":
        found["propensities"] = piece.propensities
        found["chances"] = 1.0 / (piece.all_candidates() >= 0).sum(axis=1)
    return found


def _variances(piece: Logged, shares: Matrix) -> Vector:
    """Return the mean square of the weight, known before the arm was drawn."""
    if piece.probabilities is None:
        raise ValueError(
            "the log must have probabilities of all candidates for estimator='stabilised', not "
            "propensities of the arm shown alone: use 'dr' with interval='sequence'"
        )
    there = piece.probabilities > 0
    squares = np.square(shares) / np.where(there, piece.probabilities, 1.0)
    return np.asarray(np.where(there, squares, 0.0).sum(axis=1))


def _unsupported(piece: Logged, shares: Matrix) -> Vector:
    """Return the target's probability, by arm, of what the logging policy could not have shown."""
    if piece.probabilities is not None:
        return by_arm(piece, np.where(piece.probabilities <= 0, shares, 0.0))
    certain = piece.propensities > CERTAIN
    if not certain.any():
        return np.zeros(len(piece.names))
    if piece.candidates is None and len(shares) == 1:
        others = certain.sum() - np.bincount(piece.arms[certain], minlength=len(piece.names))
        return np.asarray(shares[0] * others)
    others = piece.all_candidates() != piece.arms[:, None]
    return by_arm(piece, np.where(others & certain[:, None], shares, 0.0))


def _pooled(piece: Logged) -> bool:
    """Tell whether an arm is not on offer in some decision; candidates may also name them all."""
    if piece.candidates is None:
        return False
    return piece.candidates.shape[1] < len(piece.names) or bool((piece.candidates < 0).any())


def unsupported_rows(source: Source, wanted: Target, arms: Indices) -> Vector:
    """Return the part of each decision's probability that the log cannot speak of."""
    never = np.bincount(arms, minlength=len(source.names)) == 0
    found, start = np.zeros(source.decisions), 0
    for whole in source.pieces():
        for piece in narrow(whole):
            candidates, end = piece.all_candidates(), start + len(piece.arms)
            lost = never[candidates] | (
                (candidates != piece.arms[:, None]) & (piece.propensities > CERTAIN)[:, None]
                if piece.probabilities is None
                else piece.probabilities <= 0
            )
            found[start:end] = np.where(lost, probabilities(wanted, piece, start), 0.0).sum(axis=1)
            start = end
    return found


def _changing(piece: Logged, first: Vector) -> bool:
    """Tell whether an arm's propensity is not its first one, which is noted, all else being alike."""
    if piece.contexts is not None or _pooled(piece):
        return False
    arms, where = np.unique(piece.arms, return_index=True)
    first[arms] = np.where(first[arms] == 0, piece.propensities[where], first[arms])
    return bool((np.abs(piece.propensities - first[piece.arms]) > SAME).any())
