"""Models of the reward: the mean of each arm, or ridge regressions on contexts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx import rules
from fairx.types import Indices, Matrix, Vector

from .folds import Folds, folds_of
from .logged import Logged, Source


class Model(NamedTuple):
    """For every fold, what decisions outside it say: all others, or those before it.

    Without contexts: the mean reward of each arm. One context per decision: a ridge regression
    for each arm, its intercept free. One context per candidate: one ridge regression for all.
    """

    coefficients: Vector  # (folds, groups, features): a group is an arm, or all
    inverses: Vector  # (folds, groups, features, features), of the matrices solved with
    folds: Folds
    ends: tuple[float, float] | None  # what predictions are cut to


def fitted(
    source: Source, folds: Folds, ridge: float, ends: tuple[float, float] | None = None
) -> Model:
    """Return the model of a log; with one fold, of all decisions."""
    ridge = rules.positive("ridge", ridge)
    squares, products, start = None, None, 0
    for piece in source.pieces():
        seen, groups = features(piece), _groups(piece)
        if squares is None or products is None:
            count = 1 if shared(piece) else len(source.names)
            squares = np.zeros((folds.number, count, seen.shape[1], seen.shape[1]))
            products = np.zeros((folds.number, count, seen.shape[1]))
        _add(squares, products, seen, piece.rewards, groups, folds_of(piece, start, folds))
        start += len(piece.arms)
    assert squares is not None
    assert products is not None
    solved = _solved(folds.others(squares), folds.others(products), ridge, shared(piece))
    return Model(*solved, folds, ends)


def expected(model: Model, piece: Logged, start: int, shares: Matrix) -> tuple[Vector, Vector]:
    """Return the reward that the arm shown is expected to bring, and that of the target's arms."""
    if not slim(piece, shares, model):
        each = predicted(model, piece, start)
        found = each[np.arange(len(each)), piece.positions()]
        return found, np.einsum("rs,rs->r", np.broadcast_to(shares, each.shape), each)
    folds, seen = folds_of(piece, start, model.folds), features(piece)
    by_arm = _cut(model.coefficients, model)
    averaged = np.einsum("g,kgf->kf", shares[0], by_arm)
    found = np.einsum("rf,rf->r", seen, by_arm[folds, piece.arms])
    return found, np.einsum("rf,rf->r", seen, averaged[folds])


def slim(piece: Logged, shares: Matrix, model: Model | None) -> bool:
    """Tell whether a piece can be worked on without a column for each arm."""
    if piece.candidates is not None or shared(piece) or len(shares) > 1:
        return False
    return model is None or model.ends is None or piece.contexts is None


def predicted(model: Model, piece: Logged, start: int) -> Matrix:
    """Return the reward that each candidate of each decision is expected to bring."""
    folds = folds_of(piece, start, model.folds)
    out = np.zeros(piece.all_candidates().shape)
    for fold in np.unique(folds):
        rows = folds == fold
        if shared(piece):
            assert piece.contexts is not None
            out[rows] = piece.contexts[rows] @ model.coefficients[fold, 0]
        else:
            by_arm = features(piece)[rows] @ model.coefficients[fold].T
            out[rows] = np.take_along_axis(by_arm, piece.all_candidates()[rows], axis=1)
    return _cut(out, model)


def asked(piece: Logged, shares: Matrix) -> Matrix:
    """Return the features that a policy asks the model about, summed by group."""
    if shared(piece):
        assert piece.contexts is not None
        wide = np.broadcast_to(shares, piece.contexts.shape[:2])
        return np.asarray(np.einsum("rs,rsf->f", wide, piece.contexts)[None])
    if slim(piece, shares, None):
        return np.outer(shares[0], features(piece).sum(axis=0))
    columns = features(piece).T[:, :, None] * shares
    return np.stack([by_arm(piece, column) for column in columns], axis=1)


def by_arm(piece: Logged, values: Matrix) -> Vector:
    """Return the sum of `values`, one for each candidate of each decision, by arm."""
    if piece.candidates is None:
        return np.asarray(values.sum(axis=0) * (len(piece.arms) / len(values)))
    arms = (piece.candidates + 1).ravel()  # the first: no candidate
    return np.bincount(arms, values.ravel(), len(piece.names) + 1)[1:].astype(np.float64)


def leverages(model: Model, piece: Logged, wanted: Matrix) -> tuple[Vector, Vector]:
    """Return how much each reward counts in the sum of what is `asked`, and in its own prediction."""
    directions = np.einsum("gfh,gh->gf", model.inverses[0], wanted)
    seen, groups = features(piece), _groups(piece)
    found = np.asarray(np.einsum("rf,rf->r", seen, directions[groups]))
    return found, np.asarray(np.einsum("rf,rfh,rh->r", seen, model.inverses[0][groups], seen))


def features(piece: Logged) -> Matrix:
    """Return what the model knows of the arm shown: a constant and the context, or its context."""
    rows = len(piece.arms)
    if piece.contexts is None:
        return np.ones((rows, 1))
    if shared(piece):
        return np.asarray(piece.contexts[np.arange(rows), piece.positions()])
    return np.concatenate([np.ones((rows, 1)), piece.contexts], axis=1)


def shared(piece: Logged) -> bool:
    """Tell whether each candidate has a context, so that one model is for all arms."""
    return piece.contexts is not None and piece.contexts.ndim == 3


def _cut(values: Vector, model: Model) -> Vector:
    return values if model.ends is None else np.clip(values, *model.ends)


def _groups(piece: Logged) -> Indices:
    return np.zeros_like(piece.arms) if shared(piece) else piece.arms


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
    if seen.shape[1] == 1:  # without contexts: counts and sums
        size = squares.shape[0] * squares.shape[1]
        for sums, part in ((squares, seen[:, 0] ** 2), (products, seen[:, 0] * rewards)):
            sums += np.bincount(keys, part, size).reshape(sums.shape)
        return
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    for rows in np.split(order, first[1:]):
        fold, group = divmod(int(keys[rows[0]]), squares.shape[1])
        squares[fold, group] += seen[rows].T @ seen[rows]
        products[fold, group] += seen[rows].T @ rewards[rows]


def _solved(squares: Vector, products: Vector, ridge: float, shared: bool) -> tuple[Vector, Vector]:
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
    return np.einsum("kgfh,kgh->kgf", inverses, products), inverses
