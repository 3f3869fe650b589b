"""The regret bounds of the paper, with the constants of their proofs.

In all of them `lipschitz` is L and `minimum_merit` is gamma of the merit, over the means in use
(`merit.lipschitz(low, high)`, `merit.minimum(low, high)`). Upper bounds for the UCB family hold
with probability 1 - delta; those for the TS family bound the Bayesian regret, the mean over
parameters drawn from the standard normal prior.
"""

from __future__ import annotations

import math

import numpy as np

from fairx import rules
from fairx.exposure import fair_rows
from fairx.merit import Exponential, Merit, merit_given
from fairx.numerics.least_squares import CUT_OFF
from fairx.policies import Confidence, FairXUCB
from fairx.types import Matrix, Vector

MOST_STEPS, SETTLED = 200, 1e-7


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


def self_selected_fit(merit: Merit, contexts: Matrix, labels: Matrix) -> Vector:
    """Return the parameter that least squares settles at where it chooses its own data.

    A policy in proportion to merit sees most of what it thinks good, so that its regression is
    weighted by its own probabilities. Where the linear model is true, that changes nothing; where
    it is not, the fit of the arms shown is not the fit of all: this is the parameter that gives
    itself back, by iteration from the fit of all. It lets exploration and noise fade.

    Parameters
    ----------
    merit
        Of the policy.
    contexts, labels
        Of all examples, of shapes (examples, arms, dimension) and (examples, arms).

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential
    >>> contexts, labels = np.ones((1, 2, 1)), np.array([[0.0, 1.0]])  # alike, so shown alike
    >>> self_selected_fit(Exponential(3), contexts, labels)
    array([0.5])
    >>> contexts = np.array([[[1.0], [2.0]]])  # by all, 0.4; the second is shown more
    >>> self_selected_fit(Exponential(3), contexts, labels).round(3)
    array([0.471])
    """
    contexts, labels = _examples(merit, contexts, labels)
    found = _weighted_fit(contexts, labels, np.ones(labels.shape))
    for _ in range(MOST_STEPS):
        before, weights = found, fair_rows(merit, contexts @ found)
        found = _weighted_fit(contexts, labels, weights)
        if np.abs(found - before).max() <= SETTLED * max(1.0, np.abs(found).max()):
            return found
    raise ValueError(f"the fit must settle within {MOST_STEPS} steps: {merit} may be too steep")


def misspecification_regret(
    merit: Merit, contexts: Matrix, labels: Matrix, parameter: Vector
) -> float:
    """Return the fairness regret a round that no exploration takes away, by `self_selected_fit`.

    What a fair policy settles at is compared with what is fair by `parameter`, the judge's.

    Examples
    --------
    >>> import numpy as np
    >>> from fairx import Exponential
    >>> contexts, parameter = np.array([[[1.0], [2.0]]]), np.array([0.4])
    >>> round(misspecification_regret(Exponential(3), contexts, np.array([[0, 1]]), parameter), 3)
    0.072
    >>> round(misspecification_regret(Exponential(3), contexts, contexts @ parameter, parameter), 9)
    0.0
    """
    contexts, labels = _examples(merit, contexts, labels)
    parameter = rules.array("parameter", parameter, contexts.shape[2:])
    deployed = fair_rows(merit, contexts @ self_selected_fit(merit, contexts, labels))
    return float(np.abs(fair_rows(merit, contexts @ parameter) - deployed).sum(axis=1).mean())


def _examples(merit: Merit, contexts: Matrix, labels: Matrix) -> tuple[Matrix, Matrix]:
    """Refuse what no policy can be played on."""
    merit_given("merit", merit)
    contexts = rules.array("contexts", contexts, (None, None, None), "by example, arm and number")
    rules.count("the number of contexts", contexts.size)
    return contexts, rules.array("labels", labels, contexts.shape[:2], "one row per example")


def _weighted_fit(contexts: Matrix, labels: Matrix, weights: Matrix) -> Vector:
    dimension = contexts.shape[-1]
    gram, sums = np.zeros((dimension, dimension)), np.zeros(dimension)
    for start in range(0, len(contexts), 1000):  # never a copy of all contexts
        some = slice(start, start + 1000)
        rows, each = contexts[some].reshape(-1, dimension), weights[some].reshape(-1, 1)
        weighted = rows * each
        gram += weighted.T @ rows
        sums += weighted.T @ labels[some].reshape(-1)
    return np.asarray(np.linalg.lstsq(gram, sums, rcond=CUT_OFF)[0])


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
