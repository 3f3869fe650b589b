"""The regret bounds of the paper, with the constants of their proofs.

In all of them `lipschitz` is L and `minimum_merit` is gamma of the merit, over the means in use
(`merit.lipschitz(low, high)`, `merit.minimum(low, high)`). Upper bounds for the UCB family hold
with probability 1 - delta; those for the TS family bound the Bayesian regret, the mean over
parameters drawn from the standard normal prior.
"""

from __future__ import annotations

import math

from fairx import rules
from fairx.merit import Exponential
from fairx.policies import Confidence, FairXUCB


def ucb_fairness_bound(
    rounds: int, arms: int, lipschitz: float, minimum_merit: float, delta: float = 0.05
) -> float:
    """Bound the fairness regret of FairX-UCB, for rewards in [-1, 1].

    Examples
    --------
    >>> round(ucb_fairness_bound(1_000_000, arms=10, lipschitz=1, minimum_merit=1))
    237832
    """
    slope = _slope(lipschitz, minimum_merit)
    return 2 * arms + 4 * slope * _ucb_widths(rounds, arms, delta)


def ucb_reward_bound(rounds: int, arms: int, delta: float = 0.05) -> float:
    """Bound the reward regret of FairX-UCB, for rewards in [-1, 1] and any merit."""
    return 2 * arms + 2 * _ucb_widths(rounds, arms, delta)


def lin_ucb_fairness_bound(
    rounds: int, dimension: int, lipschitz: float, minimum_merit: float, delta: float = 0.05
) -> float:
    """Bound the fairness regret of FairX-LinUCB with ridge 1 and beta `Confidence(1, delta)`.

    Contexts and parameter have norm at most 1 and the noise is 1-sub-Gaussian.
    """
    slope, radius = _slope(lipschitz, minimum_merit), _radius(rounds, dimension, 1.0, delta)
    return 4 * slope * radius * (_widths(rounds, dimension) + _deviation(rounds, delta))


def lin_ucb_reward_bound(rounds: int, dimension: int, delta: float = 0.05) -> float:
    """Bound the reward regret of FairX-LinUCB, under the same conditions, for any merit."""
    radius = _radius(rounds, dimension, 1.0, delta)
    return 2 * radius * (_widths(rounds, dimension) + 2 * _deviation(rounds, delta))


def lin_ts_fairness_bound(
    rounds: int, dimension: int, arms: int, lipschitz: float, minimum_merit: float
) -> float:
    """Bound the Bayesian fairness regret of FairX-LinTS with prior_std = reward_std = 1.

    Contexts have norm at most 1 and the noise is standard normal. The proof's free probabilities
    are set as it sets them, to 1 / (K T) and 1 / T.
    """
    slope = _slope(lipschitz, minimum_merit)
    rare = 1 / (arms * rules.count("rounds", rounds))
    widths = _widths(rounds, dimension) + _deviation(rounds, 1 / rounds) + 1
    common = (1 + math.sqrt(2 * math.log(arms * rounds / rare))) * widths
    return 4 * slope * (common + math.sqrt(arms) * (math.sqrt(rounds * rare) + rare))


def lin_ts_reward_bound(rounds: int, dimension: int) -> float:
    """Bound the Bayesian reward regret of FairX-LinTS, under the same conditions, for any merit.

    As in the proof, W = sqrt(2 d ln(T d)) and delta = 1 / T.
    """
    d, delta = rules.count("dimension", dimension), 1 / rules.count("rounds", rounds)
    norm = math.sqrt(2 * d * math.log(max(rounds * d, 2)))
    tail = math.exp(-(norm**2) / (2 * d))
    spread = _radius(rounds, d, 0.0, delta)
    usual = 2 * (norm + spread) * (_widths(rounds, d) + 2 * _deviation(rounds, delta))
    large = 4 * rounds * d * tail * spread + 2 * rounds * d * math.sqrt(2 * tail)
    return usual + large + delta * rounds * (2 * d * math.sqrt(2 * tail) + 2 * norm)


def ts_fairness_bound(rounds: int, arms: int, lipschitz: float, minimum_merit: float) -> float:
    """Bound the Bayesian fairness regret of FairX-TS with prior_std = reward_std = 1.

    The proof makes each arm a basis vector, so that this is the linear bound with d = K.
    """
    return lin_ts_fairness_bound(rounds, arms, arms, lipschitz, minimum_merit)


def ts_reward_bound(rounds: int, arms: int) -> float:
    """Bound the Bayesian reward regret of FairX-TS, under the same conditions, for any merit.

    The paper sketches this proof without constants. Take the upper bound m + c s of its
    decomposition lemma, with m and s = 1 / sqrt(1 + pulls) the posterior's mean and standard
    deviation and c = sqrt(2 ln(K T)). Given the history, the first term of the lemma is c s on
    average, which sums to at most 2 c sqrt(K T); the second is at most K exp(-c^2 / 2) / sqrt(2 pi)
    a round, 1 / sqrt(2 pi) in all.
    """
    pairs = rules.count("arms", arms) * rules.count("rounds", rounds)
    return 2 * math.sqrt(2 * math.log(pairs)) * math.sqrt(pairs) + 1 / math.sqrt(2 * math.pi)


def lower_bound(rounds: int) -> float:
    """Return the expected fairness regret that no algorithm avoids on one of each pair.

    The pairs are `environments.minimum_merit_pair` and `environments.lipschitz_pair`
    (Theorems 2 and 3).
    """
    return 0.015 * rules.count("rounds", rounds)


def _slope(lipschitz: float, minimum_merit: float) -> float:
    """Return L / gamma."""
    return rules.number("lipschitz", lipschitz, low=0) / rules.positive(
        "minimum_merit", minimum_merit
    )


def _ucb_widths(rounds: int, arms: int, delta: float) -> float:
    """Bound the summed half widths of the arms played, and what sampling adds to them."""
    width = FairXUCB.for_horizon(Exponential(0), rounds, arms, delta).width
    return width * (_deviation(rounds, delta) + 2 * math.sqrt(rounds * arms))


def _widths(rounds: int, dimension: int) -> float:
    """Bound the summed widths of the contexts played, in the norm of the inverse precision."""
    d = rules.count("dimension", dimension)
    return math.sqrt(2 * rounds * d * math.log(1 + rounds / d))


def _deviation(rounds: int, delta: float) -> float:
    """Return the deviation of the Azuma-Hoeffding inequality."""
    return math.sqrt(
        2 * rules.count("rounds", rounds) * math.log(4 / rules.positive("delta", delta))
    )


def _radius(rounds: int, dimension: int, norm: float, delta: float) -> float:
    """Return sqrt(beta_T) of the confidence proposition."""
    d = rules.count("dimension", dimension)
    return math.sqrt(Confidence(norm, min(delta, 1.0)).squared_radius(float(rounds), d))
