"""The instances on which every bandit's fairness regret is linear (Theorems 2 and 3).

Each theorem has two instances that no algorithm tells apart in `rounds` rounds, though their
fair policies differ: on one of them its expected fairness regret is at least 0.015 per round.
"""

from __future__ import annotations

import math

from fairx import rules
from fairx.merit import PiecewiseLinear

from .normal import Normal


def minimum_merit_pair(rounds: int) -> tuple[Normal, Normal, PiecewiseLinear]:
    """Return the pair without a minimum merit: means (m, 2m) and (2m, 2m), merit the mean itself.

    The merit is the identity from m = 1 / sqrt(rounds) to 4, and level outside: 1-Lipschitz.

    Examples
    --------
    >>> first, second, merit = minimum_merit_pair(rounds=100)
    >>> first.means, second.means, merit.minimum(-1, 1)
    (array([0.1, 0.2]), array([0.2, 0.2]), 0.1)
    """
    least = 1.0 / math.sqrt(rules.count("rounds", rounds))
    merit = PiecewiseLinear((least, 4.0), (least, 4.0))
    noise = math.sqrt(0.5)
    return Normal([least, 2 * least], noise), Normal([2 * least, 2 * least], noise), merit


def lipschitz_pair(rounds: int) -> tuple[Normal, Normal, PiecewiseLinear]:
    """Return the pair without a bounded slope: means (m, 0) and (0, 0), slope sqrt(rounds).

    Examples
    --------
    >>> first, second, merit = lipschitz_pair(rounds=100)
    >>> first.means, second.means, merit.minimum(-1, 1), merit.lipschitz(-1, 1)
    (array([0.1, 0. ]), array([0., 0.]), 1.0, 10.0)
    """
    steep = math.sqrt(rules.count("rounds", rounds))
    merit = PiecewiseLinear((0.0, 1.0), (1.0, 1.0 + steep))
    noise = math.sqrt(0.5)
    return Normal([1 / steep, 0.0], noise), Normal([0.0, 0.0], noise), merit
