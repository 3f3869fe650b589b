"""The arrays that a log is made of: checked, and what can be estimated from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.numerics.least_squares import solved
from fairx.types import Matrix, Vector

ROWS = 65_536  # of a large array, looked at in one go
Numbers = npt.NDArray[Any]


def padded(pools: Any) -> Numbers:
    """Return lists of arms as a matrix, one row each, filled up with -1.

    Examples
    --------
    >>> padded([[0, 1], [2]])
    array([[ 0,  1],
           [ 2, -1]])
    """
    rows = [np.asarray(pool)[np.asarray(pool) != -1] for pool in pools]
    if not rows or not all(row.ndim == 1 and row.size for row in rows):
        raise ValueError("each of the pools must be a list of at least one arm, and there is none")
    lengths = np.array([row.size for row in rows])
    out = np.full((len(rows), lengths.max()), -1, np.result_type(*{row.dtype for row in rows}))
    out[np.arange(out.shape[1]) < lengths[:, None]] = np.concatenate(rows)
    ordered = np.sort(out, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != -1)).any(axis=1)
    if twice.any():
        raise ValueError(f"each of the pools must have an arm once, not {out[twice][0].tolist()}")
    return out


def whole(name: str, values: Any, shape: tuple[int, ...], below: int, low: int = 0) -> Numbers:
    """Return `values` as whole numbers from `low` to `below` - 1."""
    found = np.asarray(values)
    if found.shape != shape or found.dtype.kind not in "iu":
        rule = f"whole numbers of shape {shape}"
        raise ValueError(f"{name} must be {rule}, not {found.dtype} of shape {found.shape}")
    if found.min() < low or found.max() >= below:
        wrong = found[(found < low) | (found >= below)].flat[0]
        raise ValueError(f"{name} must be from {low} to {below - 1}, not {wrong}")
    return np.ascontiguousarray(found, np.int32)


def features(name: str, values: Any, rows: int, other: Any) -> Numbers:
    """Return one row of features each; rows of nothing where neither these nor others are given."""
    if values is None and other is None:
        return np.empty((rows, 0))
    if values is None or other is None:
        raise ValueError("users and items must be given together: their product is the context")
    found = rules.array(name, values, (rows, None), f"one row for each of {rows}")
    single = getattr(values, "dtype", None) == np.float32  # half the memory, for large logs
    return np.ascontiguousarray(values) if single else found


def check_displayed(pools: Numbers, pool: Numbers, displayed: Numbers) -> None:
    """Refuse a displayed arm that was not on offer."""
    for rows in slices(len(displayed)):
        there = (pools[pool[rows]] == displayed[rows, None]).any(axis=1)
        if not there.all():
            event = rows.start + int(np.argmin(there))
            arms = [arm for arm in pools[pool[event]].tolist() if arm >= 0]
            rule = f"in the pool of its event, {arms}"
            raise ValueError(f"displayed[{event}] must be {rule}, not {displayed[event]}")


def slices(length: int) -> list[slice]:
    """Return the parts of a large array that are looked at one after the other."""
    return [slice(start, start + ROWS) for start in range(0, length, ROWS)]


def arm_means(displayed: Numbers, rewards: Vector, arms: int) -> Vector:
    """Return the mean reward of each arm; of all events for one that was never displayed."""
    shows = np.bincount(displayed, minlength=arms)
    sums = np.bincount(displayed, weights=rewards, minlength=arms)
    return np.where(shows > 0, sums / np.maximum(shows, 1), rewards.mean())


def fitted_parameter(displayed: Numbers, rewards: Vector, users: Numbers, items: Matrix) -> Vector:
    """Return the least-squares parameter: rewards against outer products of user and arm."""
    dimension = users.shape[1] * items.shape[1]
    gram, sums = np.zeros((dimension, dimension)), np.zeros(dimension)
    order = np.argsort(displayed, kind="stable")
    ends = np.searchsorted(displayed[order], np.arange(len(items) + 1))
    for arm, item in enumerate(items):  # a sum of outer products with one item is a product of sums
        rows = order[ends[arm] : ends[arm + 1]]
        met = users[rows].astype(np.float64)
        gram += np.kron(met.T @ met, np.outer(item, item))
        sums += np.kron(met.T @ rewards[rows], item)
    return solved(gram, sums)
