"""Fair shares of arms that were not always on offer, and how uncertain means spread to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit

from fairx import rules
from fairx.auditing.always_valid import Intervals
from fairx.types import Indices, Vector

BLOCK = 256  # arms whose covariances are held at a time


class Pools(NamedTuple):
    """Sets of candidates: member i says that arm number `arm[i]` is in pool number `pool[i]`."""

    pool: Indices
    arm: Indices
    decisions: Vector  # made from each pool
    floor: float = 0.0  # what each member has of every decision; merit shares out the rest


def floored(pools: Pools, floor: float) -> Pools:
    """Return the pools with a floor, which all members of the largest one must be able to have."""
    check_floor(floor, int(np.bincount(pools.pool).max()))
    return pools._replace(floor=floor)


def check_floor(floor: float, most: int) -> None:
    """Refuse a floor that cannot be had in a decision among so many arms."""
    if most * floor > 1:
        raise ValueError(
            f"floor must be at most 1 / {most}, not {floor:g}: "
            f"the log has decisions among {most} arms, which cannot all have more"
        )


def fair_shares(pools: Pools, logs: Vector) -> Vector:
    """Return each arm's share of all decisions when every pool is shared out by merit.

    share(a) = sum over pools s with a of decisions(s) / T * f(a) / sum of f over s; with a floor,
    the last part is floor + (1 - |s| floor) f(a) / sum of f over s.

    Examples
    --------
    >>> pools = Pools(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3.0, 1.0]))
    >>> fair_shares(pools, np.log([2.0, 1.0]))
    array([0.5, 0.5])
    """
    return summed(pools.arm, _weights(pools) * chances(pools, logs), logs.size)


def chances(pools: Pools, logs: Vector) -> Vector:
    """Return the fair probability of each member in its pool, its floor included."""
    return pools.floor + _rest(pools)[pools.pool] * _merited(pools, logs)


def _merited(pools: Pools, logs: Vector) -> Vector:
    """Return the part of each member in what merit shares out in its pool."""
    members = logs[pools.arm]
    found: Vector = np.exp(
        members - log_totals(pools.pool, members, pools.decisions.size)[pools.pool]
    )
    return found


def share_box(pools: Pools, logs: Intervals, groups: Indices) -> Intervals:
    """Return the lowest and highest share of each group of arms over a box of log merits.

    A group's share grows with the merit of its arms and falls with that of all others, in every
    pool, so that both ends are at corners of the box: nothing is approximated.

    Examples
    --------
    >>> pools = Pools(np.array([0, 0]), np.array([0, 1]), np.array([1.0]))
    >>> share_box(pools, Intervals(np.log([1.0, 1.0]), np.log([3.0, 1.0])), np.array([0, 1]))
    Intervals(low=array([0.5 , 0.25]), high=array([0.75, 0.5 ]))
    """
    number = int(groups.max()) + 1
    parts, key = np.unique(pools.pool * number + groups[pools.arm], return_inverse=True)
    pool, group = np.divmod(parts, number)
    weights = pools.decisions[pool] / pools.decisions.sum()
    own = [log_totals(key, end[pools.arm], pool.size) for end in logs]
    others = [_others(pool, end, pools.decisions.size) for end in own]
    least = pools.floor * np.bincount(key, minlength=pool.size)  # a floor for each of the group
    merited = (expit(own[0] - others[1]), expit(own[1] - others[0]))
    ends = [least + _rest(pools)[pool] * part for part in merited]
    return Intervals(*(summed(group, weights * end, number) for end in ends))


def share_errors(pools: Pools, logs: Vector, slopes: Vector, variances: Vector) -> Vector:
    """Return the standard error of each fair share by the delta method.

    The derivative of share(a) by the mean of b is the average over decisions of
    p(a) (1[a = b] - p(b)) (log f)'(b), where p are the fair probabilities of the pool, times what
    a floor leaves to merit there.
    """
    arms, spread = logs.size, slopes**2 * variances
    found, shape = _merited(pools, logs), (pools.decisions.size, logs.size)
    weights = _weights(pools) * _rest(pools)[pools.pool]
    members = (pools.pool, pools.arm)
    table = sparse.csc_array((found, members), shape=shape)
    weighted = sparse.csc_array((found * weights, members), shape=shape)
    shares, variance = summed(pools.arm, weights * found, arms), np.empty(arms)
    with np.errstate(invalid="ignore"):  # infinite where an arm was never rewarded
        for start in range(0, arms, BLOCK):
            block = np.arange(start, min(start + BLOCK, arms))
            both = (weighted[:, block].T @ table).tocsr()
            own = shares[block] * (shares[block] - 2.0 * both[block - start, block])
            variance[block] = both.power(2) @ spread + spread[block] * own
    return np.sqrt(np.maximum(np.where(np.isnan(variance), np.inf, variance), 0.0))


def summed(segments: Indices, values: Vector, number: int) -> Vector:
    """Return the sum of the values of each segment."""
    found: Vector = np.bincount(segments, values, number).astype(np.float64)
    return found


def log_totals(segments: Indices, logs: Vector, number: int) -> Vector:
    """Return log(sum of exp) over the entries of each segment, -inf for an empty one."""
    top = np.full(number, -np.inf)
    np.maximum.at(top, segments, logs)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        found: Vector = shift + np.log(summed(segments, np.exp(logs - shift[segments]), number))
    return found


def _others(pool: Indices, logs: Vector, number: int) -> Vector:
    """Return log(sum of exp) over the other entries of each entry's pool.

    The total less its own part would lose all digits for the largest entry of a pool: there the
    others are added up by themselves.
    """
    order = np.lexsort((logs, pool))
    last = np.append(pool[order][1:] != pool[order][:-1], True)
    largest = np.zeros(logs.size, bool)
    largest[order[last]] = True
    rest = log_totals(pool, np.where(largest, -np.inf, logs), number)[pool]
    total = log_totals(pool, logs, number)[pool]
    with np.errstate(divide="ignore", invalid="ignore"):
        without = total + np.log1p(-np.exp(logs - total))
    return np.where(largest, rest, without)


def _rest(pools: Pools) -> Vector:
    """Return what of each pool's decisions is left for merit to share out."""
    sizes = summed(pools.pool, np.ones(pools.pool.size), pools.decisions.size)
    return 1.0 - pools.floor * sizes


def _weights(pools: Pools) -> Vector:
    found: Vector = pools.decisions[pools.pool] / pools.decisions.sum()
    return found


def gini(shares: npt.ArrayLike) -> float:
    """Return the Gini coefficient: 0 where all have the same, near 1 where one has all.

    Examples
    --------
    >>> gini([0.25, 0.25, 0.5]), gini([1.0, 1.0])
    (0.16666666666666663, 0.0)
    """
    curve = lorenz(shares)
    return float(1.0 - (curve[1:] + curve[:-1]).sum() / (curve.size - 1))


def lorenz(shares: npt.ArrayLike) -> Vector:
    """Return what the i least shown arms have together, for i from 0 to all of them.

    Examples
    --------
    >>> lorenz([0.5, 0.25, 0.25])
    array([0.  , 0.25, 0.5 , 1.  ])
    """
    found = np.sort(rules.array("shares", shares, (None,)))
    total = rules.positive("the sum of shares", float(found.sum()))
    return np.concatenate([[0.0], np.cumsum(found) / total])
