"""The fairness regret of each decision: how far its probabilities were from the fair ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fairx.merit import Merit
from fairx.types import Vector

from .merits import Merits, Rewarded
from .prepared import Prepared
from .result import Moment
from .shares import chances
from .sums import LogSums

MOMENTS = 40
DRAWS = 40  # of what the means could be: enough for a mean and for the second largest


class Noise(NamedTuple):
    """What estimated means do to the regret."""

    floor: float  # the regret that an exactly fair log of this size shows on average
    reach: float  # how far from the truth the regret may be, in 95 of 100 logs, at one look


class Regret(NamedTuple):
    """The fairness regret per decision, overall and over time."""

    value: float
    method: str
    over_time: tuple[Moment, ...]


def noise(sums: LogSums, merit: Merit, merits: Merits, ends: tuple[float, float]) -> Noise:
    """Return what means that are estimated add to the regret of decisions."""
    pools, weights = sums.pools, sums.pools.decisions / sums.pools.decisions.sum()
    fair = chances(pools, merits.logs)

    def apart(logs: Vector) -> float:
        return float((weights[pools.pool] * np.abs(chances(pools, logs) - fair)).sum())

    return noise_of(sums, merit, merits.means, ends, apart)


def noise_of(
    sums: Rewarded,
    merit: Merit,
    means: Vector,
    ends: tuple[float, float],
    apart: Callable[[Vector], float],
) -> Noise:
    """Return what means that are estimated add to the regret, by drawing what they could be.

    A system that is fair for the means as they were found shows the distance between its
    probabilities and those that are fair for means drawn about them: `apart`, of the logarithms of
    their merits. The true regret is no farther from the one that was found than that distance
    (the triangle inequality).
    """
    counts = np.maximum(sums.rewards, 1)
    spread = np.sqrt(np.maximum(sums.squares / counts - means**2, 0.0) / counts)
    generator, found = np.random.default_rng(0), []  # the same log has the same floor
    for _ in range(DRAWS):
        drawn = np.clip(means + spread * generator.standard_normal(counts.size), *ends)
        found.append(apart(np.array([merit.log(mean) for mean in drawn.tolist()])))
    return Noise(float(np.mean(found)), float(np.quantile(found, 0.95)))


def regret(tables: Prepared, sums: LogSums, logs: Vector, distance: float) -> Regret:
    """Return the mean of sum over arms of |fair - deployed|, with the merits that the log shows.

    With all probabilities that is exact. With propensities alone it is estimated: as both sum to 1,
    the regret is twice what arms have too much, whose unbiased estimate is 2 (1 - fair / propensity)
    of the arm that was chosen, or 0 where that is negative. It is between 0 and 2 itself, and arms
    that had no chance are in it. With neither, the distance of the average exposure is all that is
    known; by Jensen's inequality that of average probabilities is no larger than the regret.
    """
    if sums.inverse is None:
        return Regret(distance, "shows", ())
    pools = sums.pools
    each = (sums.stop - sums.start) / MOMENTS if sums.stop > sums.start else 0.0
    # Times that are all the same, or not known, make one moment.
    moment = f"least(floor((time - {sums.start!r}) / {each!r}), {MOMENTS - 1})" if each else "0"
    rows = tables.rows(sums.problems)
    found = tables.regrets(pools, chances(pools, logs), moment, rows)
    value = float(found["regret"].sum() / pools.decisions.sum())
    method = "propensities" if sums.exposure is None else "probabilities"
    moments = zip(
        *(found[name].tolist() for name in ("moment", "decisions", "regret")), strict=True
    )
    starts = ((sums.start + i * each, int(n), total / n) for i, n, total in moments)
    over_time = tuple(Moment(start, start + each, n, mean) for start, n, mean in starts)
    return Regret(value, method, over_time if each else ())
