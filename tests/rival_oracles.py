"""Slow and obvious: what rivals deploy, from the whole history of plays and rewards at once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import oracles
import policy_oracles
from scipy.optimize import linprog, minimize


def best_chances(means: Any) -> Any:
    """Return how likely each coin is the best, by all outcomes: those that win share alike."""
    found = np.zeros(len(means))
    for outcome in itertools.product([0, 1], repeat=len(means)):
        won = np.array(outcome)
        chance = np.prod(np.where(won, means, 1 - np.asarray(means)))
        winners = won if won.any() else np.ones(len(means))
        found += chance * winners / winners.sum()
    return found


def chained(low: Any, high: Any) -> Any:
    """Return equal chances of the arms that can be reached from the highest by overlaps."""
    touch = (low[:, None] <= high) & (low <= high[:, None])
    reached = np.eye(len(low))[int(np.argmax(high))] > 0
    for _ in low:
        reached = reached | touch[reached].any(axis=0)
    return reached / reached.sum()


def revenue_program(least: Any, upper: Any) -> Any:
    """Return the best shares of which each has its least, by a linear program."""
    if least.sum() >= 1:
        return least / least.sum()
    ones = np.ones((1, len(least)))
    return linprog(
        -upper, A_eq=ones, b_eq=[1], bounds=list(zip(least, np.ones(len(least)), strict=True))
    ).x


def nearest_in_groups(given: Any, groups: Any, low: Any, high: Any) -> Any:
    """Return the probabilities of least divergence from `given` with each group within bounds."""
    member = np.eye(len(low))[list(groups)]  # by arm and group

    def divergence(q: Any) -> float:
        return float(np.sum(q * np.log(np.maximum(q, 1e-300) / given)))

    bounds = [
        {"type": "eq", "fun": lambda q: q.sum() - 1},
        {"type": "ineq", "fun": lambda q: q @ member - np.asarray(low)},
        {"type": "ineq", "fun": lambda q: np.asarray(high) - q @ member},
    ]
    options = {"maxiter": 1000, "ftol": 1e-15}
    return minimize(
        divergence, given, constraints=bounds, bounds=[(1e-12, 1)] * len(given), options=options
    ).x


def delayed(policy: Any, plays: Any, pulls: Any, sums: Any) -> Any:
    """Return the fair policy of the best corner of the box that the authors' code has."""
    arms, t = len(plays), 1 + max(plays.sum(), pulls.sum())
    whole = np.maximum(plays, pulls) if policy.missing else pulls
    factor = 6 if policy.missing else 4
    radius = np.sqrt(np.log(factor * arms * t / policy.delta) / (2 * np.maximum(whole, 1)))
    low = np.clip(np.where(whole > 0, sums / np.maximum(whole, 1) - radius, 0), 0, 1)
    most = (sums + whole - pulls) / np.maximum(whole, 1)
    high = np.clip(np.where(whole > 0, most + radius, 1), 0, 1)
    return oracles.fair(policy.merit, policy_oracles.best_point(policy.merit, low, high))


def reward_and_entropy(logits: Any, means: Any, steepness: float) -> float:
    """Return expected reward plus entropy over the steepness, of the softmax of logits."""
    shares = np.exp(logits - logits.max())
    shares = shares / shares.sum()
    return float(shares @ means - shares @ np.log(shares) / steepness)
