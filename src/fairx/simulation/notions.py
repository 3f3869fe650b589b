"""Other notions of fairness, measured in each round of the loop: what is lacking by each of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fairx.compiled import kernel
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
        """Add what a round lacks."""
        room, n = tally.seen.reshape((tally.seen.size,)), len(deployed)
        tally.measured[number] += lack_of_chance(means, deployed, room[:n], room[n : 2 * n + 1])
        tally.measured[number + 1] += preferred_to_better(means, deployed)
        tally.measured[number + 2] += log_loss(means, deployed)


@kernel
def lack_of_chance(means: Vector, deployed: Vector, best: Vector, chances: Vector) -> float:
    """Return what arms lack of the chance that their reward is the best (Liu et al. 2017)."""
    be_best(means, chances, best)
    lack = 0.0
    for i in range(len(deployed)):
        lack += max(best[i] - deployed[i], 0.0)
    return lack


@kernel
def preferred_to_better(means: Vector, deployed: Vector) -> float:
    """Return the most by which an arm is preferred to a better one (Joseph et al. 2016)."""
    most = 0.0
    for worse in range(len(means)):
        for better in range(len(means)):
            if means[worse] < means[better]:
                most = max(most, deployed[worse] - deployed[better])
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
