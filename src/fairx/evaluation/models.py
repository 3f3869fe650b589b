"""Models of the reward: the mean of each arm, or ridge regressions on contexts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.types import Indices, Matrix, Vector

from .logged import Logged, Source


class Model(NamedTuple):
    """For every fold, what the decisions outside it say.

    Without contexts: the mean reward of each arm. One context per decision: a ridge regression
    for each arm, its intercept free. One context per candidate: one ridge regression for all.
    """

    coefficients: Vector  # (folds, groups, features): a group is an arm, or all
    inverses: Vector  # (folds, groups, features, features), of the matrices solved with


def fitted(source: Source, folds: int, ridge: float) -> Model:
    """Return the model of a log; with one fold, of all decisions."""
    folds, ridge = rules.count("folds", folds), rules.positive("ridge", ridge)
    squares, products, start = None, None, 0
    for piece in source.pieces():
        seen, groups = features(piece), _groups(piece)
        if squares is None or products is None:
            count = 1 if _shared(piece) else len(source.names)
            squares = np.zeros((folds, count, seen.shape[1], seen.shape[1]))
            products = np.zeros((folds, count, seen.shape[1]))
        _add(squares, products, seen, piece.rewards, groups, fold_of(piece, start, folds))
        start += len(piece.arms)
    assert squares is not None
    assert products is not None
    if folds > 1:
        squares, products = squares.sum(axis=0) - squares, products.sum(axis=0) - products
    return _solved(squares, products, ridge, _shared(piece))


def predicted(model: Model, piece: Logged, start: int) -> Matrix:
    """Return the reward that each candidate of each decision is expected to bring."""
    folds = fold_of(piece, start, len(model.coefficients))
    out = np.zeros(piece.all_candidates().shape)
    for fold in range(len(model.coefficients)):
        rows = folds == fold
        if _shared(piece):
            assert piece.contexts is not None
            out[rows] = piece.contexts[rows] @ model.coefficients[fold, 0]
        else:
            by_arm = features(piece)[rows] @ model.coefficients[fold].T
            out[rows] = np.take_along_axis(by_arm, piece.all_candidates()[rows], axis=1)
    return out


def asked(piece: Logged, probabilities: Matrix) -> Matrix:
    """Return the features that a policy asks the model about, summed by group."""
    if _shared(piece):
        assert piece.contexts is not None
        return np.asarray(np.einsum("rs,rsf->f", probabilities, piece.contexts)[None])
    columns = features(piece).T[:, :, None] * probabilities
    return np.stack([by_arm(piece, column) for column in columns], axis=1)


def by_arm(piece: Logged, values: Matrix) -> Vector:
    """Return the sum of `values`, one for each candidate of each decision, by arm."""
    if piece.candidates is None:
        return np.asarray(values.sum(axis=0))
    arms = (piece.candidates + 1).ravel()  # the first: no candidate
    return np.bincount(arms, values.ravel(), len(piece.names) + 1)[1:].astype(np.float64)


def leverages(model: Model, piece: Logged, wanted: Matrix) -> Vector:
    """Return how much each reward counts in the sum of what is `asked` of the whole model."""
    directions = np.einsum("gfh,gh->gf", model.inverses[0], wanted)
    return np.asarray(np.einsum("rf,rf->r", features(piece), directions[_groups(piece)]))


def features(piece: Logged) -> Matrix:
    """Return what the model knows of the arm shown: a constant and the context, or its context."""
    rows = len(piece.arms)
    if piece.contexts is None:
        return np.ones((rows, 1))
    if _shared(piece):
        return np.asarray(piece.contexts[np.arange(rows), piece.positions()])
    return np.concatenate([np.ones((rows, 1)), piece.contexts], axis=1)


def fold_of(piece: Logged, start: int, folds: int) -> Indices:
    """Return the fold of each decision: a unit is in one fold."""
    return (
        np.arange(start, start + len(piece.arms)) if piece.units is None else piece.units
    ) % folds


def _shared(piece: Logged) -> bool:
    return piece.contexts is not None and piece.contexts.ndim == 3


def _groups(piece: Logged) -> Indices:
    return np.zeros_like(piece.arms) if _shared(piece) else piece.arms


def _add(
    squares: Vector,
    products: Vector,
    seen: Matrix,
    rewards: Vector,
    groups: Indices,
    folds: Indices,
) -> None:
    """Add up the normal equations of each fold and group."""
    keys = folds * squares.shape[1] + groups
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    for rows in np.split(order, first[1:]):
        fold, group = divmod(int(keys[rows[0]]), squares.shape[1])
        squares[fold, group] += seen[rows].T @ seen[rows]
        products[fold, group] += seen[rows].T @ rewards[rows]


def _solved(squares: Vector, products: Vector, ridge: float, shared: bool) -> Model:
    """Solve the normal equations; an arm never seen is expected to bring what all arms do."""
    penalties = np.full(squares.shape[-1], ridge)
    if not shared:
        penalties[0] = 0.0
        seen = squares[..., 0, 0].sum(axis=1, keepdims=True)
        mean = products[..., 0].sum(axis=1, keepdims=True) / np.maximum(seen, 1.0)
        never = squares[..., 0, 0] < 0.5  # counts, some of them differences of counts
        squares[..., 0, 0] = np.where(never, 1.0, squares[..., 0, 0])
        products[..., 0] = np.where(never, mean, products[..., 0])
    inverses = np.asarray(np.linalg.inv(squares + np.diag(penalties)), np.float64)
    return Model(np.einsum("kgfh,kgh->kgf", inverses, products), inverses)
