"""Logs whose displayed arm was drawn uniformly: what a replay needs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx import rules
from fairx.compiled import changed, record
from fairx.merit import Merit
from fairx.simulation.tally import Tally, new_tally
from fairx.types import Indices, Matrix, Vector

from .arrays import (
    arm_means,
    check_displayed,
    features,
    fitted_parameter,
    padded,
    slices,
    whole,
)
from .loop import LogWorld, judge_events

RESERVE = 5.0
Log = Any  # once it is checked all fields of a log are arrays, which its declared types do not say


@record
class UniformLog(NamedTuple):
    """Events, each with its own pool of arms, one of which was displayed, drawn uniformly.

    Parameters
    ----------
    pools
        Lists of the arms that were on offer together, or a matrix filled up with -1.
    displayed
        The arm that each event displayed.
    rewards
        What it paid.
    pool
        Which of the pools each event had. By default all had the only one, or each its own.
    users, items
        Features of the user of each event, and of each arm; the context of an arm is their outer
        product. Without them there are no contexts.
    means, parameter
        The judge's truth: means[arm] + context . parameter. By default the mean reward of each arm
        in this log, or, where there are contexts, the least-squares fit of the rewards.

    Notes
    -----
    An arm that was on offer but never displayed gets the mean of all rewards. The outer product of
    features that sum to 1 has fewer dimensions than numbers: the fit cuts off what is below 1e-10 of
    the largest eigenvalue. Its parameter is rounded to multiples of 2**-20.

    Examples
    --------
    >>> pools = [[0, 1], [0, 1, 2]]
    >>> log = UniformLog(pools, displayed=[0, 2, 1, 1], rewards=[0, 1, 1, 0], pool=[0, 1, 1, 0])
    >>> log.means
    array([0. , 0.5, 1. ])
    """

    pools: Any
    displayed: npt.ArrayLike
    rewards: npt.ArrayLike
    pool: npt.ArrayLike | None = None
    users: npt.ArrayLike | None = None
    items: npt.ArrayLike | None = None
    means: npt.ArrayLike | None = None
    parameter: npt.ArrayLike | None = None

    def checked(self) -> UniformLog:
        """Refuse what does not fit together; fit the truth that was not given."""
        pools = padded(self.pools)
        events = rules.count("the number of events", np.size(self.displayed))
        by_arm = [len(np.asarray(given)) for given in (self.items, self.means) if given is not None]
        arms = by_arm[0] if by_arm else int(pools.max()) + 1
        pool = np.arange(len(pools)) if len(pools) > 1 else np.zeros(events, np.int32)
        new = changed(
            self,
            pools=whole("each of the pools", pools, pools.shape, arms, low=-1).astype(np.int64),
            displayed=whole("displayed", self.displayed, (events,), arms),
            rewards=rules.array("rewards", self.rewards, (events,), "one per event"),
            pool=whole("pool", pool if self.pool is None else self.pool, (events,), len(pools)),
            users=features("users", self.users, events, self.items),
            items=features("items", self.items, arms, self.users),
        )
        return _with_truth(new)

    @property
    def arms(self) -> int:
        """How many arms there are, on offer or not."""
        return int(np.size(self.means))  # type: ignore[arg-type]

    @property
    def dimension(self) -> int:
        """How many numbers a context has."""
        return int(np.size(self.parameter))  # type: ignore[arg-type]

    def world(self) -> LogWorld:
        """Return the inner form."""
        return LogWorld(sizes=(np.asarray(self.pools) >= 0).sum(axis=1), **self._asdict())

    def expected(self) -> float:
        """Return how many events a replay accepts on average, whatever the policy."""
        world = self.world()
        return float((1.0 / world.sizes)[world.pool].sum())

    def horizon(self) -> int:
        """Return the number of rounds that a replay can count on.

        It is E - 5 sqrt(E), with E the expected number: fewer are accepted in less than one of
        250,000 runs (Chernoff).

        Examples
        --------
        >>> UniformLog([[0, 1]], displayed=[0, 1] * 200, rewards=[0.0] * 400).horizon()
        129
        """
        expected = self.expected()
        return max(1, math.floor(expected - RESERVE * math.sqrt(expected)))

    def mean_range(self) -> tuple[float, float]:
        """Return the lowest and highest true mean of the arms on offer; with contexts, displayed."""
        log: Log = self
        if not self.dimension:
            found = log.means[np.unique(log.pools[log.pools >= 0])]
            return float(found.min()), float(found.max())
        slopes = log.items @ log.parameter.reshape(log.users.shape[1], -1).T
        ends = []
        for rows in slices(len(log.displayed)):
            arms = log.displayed[rows]
            found = log.means[arms] + (log.users[rows] * slopes[arms]).sum(axis=1)
            ends += [float(found.min()), float(found.max())]
        return min(ends), max(ends)

    def reward_range(self) -> tuple[float, float]:
        """Return the lowest and highest reward."""
        return float(np.min(self.rewards)), float(np.max(self.rewards))

    def judged(self, judge: Merit) -> tuple[Vector, Vector]:
        """Return, by arm, the true mean while on offer, and the fair share.

        Both are averages over all events, each weighed by its chance to be accepted.

        Examples
        --------
        >>> from fairx import Exponential
        >>> log = UniformLog([[0, 1], [1]], displayed=[0, 1, 1], rewards=[0, 1, 1], pool=[0, 0, 1])
        >>> [values.round(2).tolist() for values in log.judged(Exponential(2))]
        [[0.0, 1.0], [0.06, 0.94]]
        """
        world, (tally, contexts) = self.world(), buffers(self, np.array([1]), 0, 0)
        rest = tally, contexts, 0
        run, records = judge_events.ready((judge, world), lambda run, low: run(*low, *rest, 0))
        run(*records, *rest, len(world.displayed))
        weights = np.where(tally.fairness > 0.0, tally.fairness, 1.0)
        return tally.reward / weights, tally.exposure / self.expected()


def buffers(
    log: UniformLog, marks: Indices, normals: int, work: int, measures: int = 0
) -> tuple[Tally, Matrix]:
    """Return what a loop over the events adds up in, and room for the contexts of one event."""
    widest = np.asarray(log.pools).shape[1]
    tally = new_tally(marks, log.arms, normals, work, measures)
    return tally, np.empty((widest, log.dimension))


def _with_truth(log: Log) -> UniformLog:
    """Refuse a displayed arm that was not on offer; fill in the truth that was not given."""
    check_displayed(log.pools, log.pool, log.displayed)
    arms, dimension = len(log.items), log.users.shape[1] * log.items.shape[1]
    means, parameter = np.zeros(arms), np.zeros(dimension)
    if log.means is not None or log.parameter is not None:
        means = means if log.means is None else rules.array("means", log.means, (arms,))
        parameter = parameter if log.parameter is None else log.parameter
        parameter = rules.array("parameter", parameter, (dimension,), "users x items")
    elif dimension:
        parameter = fitted_parameter(log.displayed, log.rewards, log.users, log.items)
    else:
        means = arm_means(log.displayed, log.rewards, arms)
    new: UniformLog = changed(log, means=means, parameter=parameter)
    return new
