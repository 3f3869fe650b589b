"""Other notions of fairness, measured in each round of the loop: what is lacking by each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fairx.compiled import kernel, meet, turns
from fairx.numerics.elementary import log
from fairx.policies.rivals.calibrated import be_best
from fairx.types import Indices, Vector

from .tally import Tally

LEAST = 1e-12  # expected reward: the logarithm of less is not taken

NOTIONS: Mapping[str, Any] = MappingProxyType({
    "calibrated": "sum over arms of (chance that its reward is the best - probability), where positive",
    "meritocratic": "the most by which an arm is more probable than one with a higher mean",
    "nash": "log(highest mean / expected reward)",
})  # fmt: skip


class Notions(NamedTuple):
    """Measures of ours in the place of functions of a user's: rewards must be 0 or 1, places one."""

    empty: bool = True

    def note_round(
        self, tally: Tally, number: int, arms: Indices, deployed: Vector, fair: Vector,
        means: Vector, position: int, reward: float,
    ) -> None:  # fmt: skip
        """Add what a round lacks; what follows from the means alone is kept while they stay."""
        n, whole = len(deployed), tally.seen.shape[1]
        best, order, before = tally.seen[0], tally.seen[3], tally.seen[4]
        for _ in turns(1):  # what is kept and added to is the run's: one of its lanes does it
            if not stayed(means, before):
                chances = tally.seen[1:3].reshape((2 * whole,))
                be_best(means, chances[: n + 1], best[:n])
                put_in_order(means, order)
                keep(means, before)
            tally.measured[number] += lack_of_chance(best, deployed)
            tally.measured[number + 1] += preferred_to_better(means, deployed, order)
            tally.measured[number + 2] += log_loss(means, deployed)
        meet()


@kernel
def stayed(means: Vector, before: Vector) -> bool:
    """Tell whether these are the means that were kept: beyond the last of those is no number."""
    n = len(means)
    for i in range(n):
        if means[i] != before[i]:
            return False
    return n == len(before) or before[n] != before[n]


@kernel
def keep(means: Vector, before: Vector) -> None:
    """Keep means, and no number beyond them."""
    for i in range(len(before)):
        before[i] = means[i] if i < len(means) else math.nan


@kernel
def put_in_order(means: Vector, order: Vector) -> None:
    """Write the positions of arms, the lowest mean first."""
    for i in range(len(means)):
        place = i
        while place > 0 and means[int(order[place - 1])] > means[i]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i


@kernel
def lack_of_chance(best: Vector, deployed: Vector) -> float:
    """Return what arms lack of the chance that their reward is the best (Liu et al. 2017)."""
    lack = 0.0
    for i in range(len(deployed)):
        lack += max(best[i] - deployed[i], 0.0)
    return lack


@kernel
def preferred_to_better(means: Vector, deployed: Vector, order: Vector) -> float:
    """Return the most by which an arm is preferred to a better one (Joseph et al. 2016)."""
    most, worse, alike = 0.0, 0.0, 0.0  # the highest probabilities of lower means, and of this one
    for i in range(len(means)):
        here = int(order[i])
        if i > 0 and means[here] > means[int(order[i - 1])]:
            worse = max(worse, alike)
        most = max(most, worse - deployed[here])
        alike = max(alike, deployed[here])
    return most


@kernel
def log_loss(means: Vector, deployed: Vector) -> float:
    """Return log(highest mean / expected reward), whose mean tells the Nash regret (Barman et al. 2023).

    Examples
    --------
    >>> import numpy as np
    >>> round(log_loss(np.array([0.2, 0.8]), np.array([0.5, 0.5])), 4)  # log(0.8 / 0.5)
    0.47
    """
    best, earned = means[0], 0.0
    for i in range(len(means)):
        best = max(best, means[i])
        earned += means[i] * deployed[i]
    return log(max(best, LEAST)) - log(max(earned, LEAST))
