"""Whether arms were shown as often as the log's own probabilities say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph
from scipy.special import chdtrc, ndtr

from fairx.auditing.always_valid import always_valid
from fairx.types import Vector

from .result import SampleRatio
from .shares import Pools, summed
from .sums import LogSums

LEAST = 5.0  # expected shows for a cell of its own


def sample_ratio(sums: LogSums, alpha: float) -> SampleRatio:
    """Compare shows with probabilities; with propensities alone, look for ones that are too small.

    With all probabilities, an arm is mismatched where its average probability is outside the
    always-valid interval around its share of shows; the p-value is Pearson's, for one look. With
    propensities alone, the sum of 1 / propensity over an arm's shows has mean at most the number
    of decisions that it was on offer in: more than that, by the normal limit and Bonferroni's
    correction, says that propensities are too small. Too large ones cannot be told from an arm
    that had no chance at times.
    """
    if sums.exposure is not None:
        return _by_probabilities(sums, sums.exposure, alpha)
    if sums.inverse is not None:
        return _by_propensities(sums, sums.inverse, alpha)
    return SampleRatio("none: the log has no probabilities", None, ())


def _by_probabilities(sums: LogSums, expected: Vector, alpha: float) -> SampleRatio:
    decisions, arms = sums.pools.decisions.sum(), len(sums.arms)
    box = always_valid(sums.shows, np.full(arms, decisions), alpha / arms)
    share = expected / decisions
    outside = (share < box.low - 1e-9) | (share > box.high + 1e-9)
    big = expected >= LEAST
    cells = [np.append(part[big], part[~big].sum()) for part in (sums.shows, expected)]
    shown, wanted = (part[cells[1] > 0] for part in cells)
    statistic = float(((shown - wanted) ** 2 / wanted).sum())
    freedom = wanted.size - _totals(sums.pools, big, expected > 0)
    p_value = float(chdtrc(max(freedom, 1), statistic))
    named = tuple(sums.arms[i] for i in np.flatnonzero(outside))
    return SampleRatio("always-valid intervals; p-value by Pearson, one look", p_value, named)


def _totals(pools: Pools, big: npt.NDArray[np.bool_], there: npt.NDArray[np.bool_]) -> int:
    """Return how many totals of cells are as they must be: each is a degree of freedom less.

    Arms that share no pool, not even by way of others, are decided among themselves. The cell of
    arms that are rarely expected takes part in the total of all.
    """
    number = pools.decisions.size
    nodes, ones = number + big.size, np.ones(pools.arm.size)
    graph = sparse.coo_array((ones, (pools.pool, number + pools.arm)), shape=(nodes, nodes))
    labels = csgraph.connected_components(graph, directed=False)[1][number:]
    mixed = np.unique(labels[there & ~big])
    return len(np.setdiff1d(labels[there], mixed)) + bool(mixed.size)


def _by_propensities(sums: LogSums, inverse: Vector, alpha: float) -> SampleRatio:
    pools, arms = sums.pools, len(sums.arms)
    candidacies = summed(pools.arm, pools.decisions[pools.pool], arms)
    spread = np.sqrt(np.maximum(sums.spread, 1e-12 * candidacies**2))
    chances = ndtr((candidacies - inverse) / np.where(spread > 0, spread, 1.0)) * arms
    named = tuple(sums.arms[i] for i in np.flatnonzero(chances < alpha))
    method = "propensities too small, by the normal limit, one look"
    return SampleRatio(method, float(min(1.0, chances.min())), named)
