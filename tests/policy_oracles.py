"""Slow and obvious: what each policy deploys, from its whole history at once."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import oracles
from scipy.optimize import brentq


def squared_radius(beta: Any, t: int, dimension: int) -> float:
    """Return beta in round t, by the formula of the confidence proposition."""
    if not hasattr(beta, "delta"):
        return float(beta.beta)
    spread = dimension * np.log(1 + t / dimension) + 2 * np.log(np.pi**2 * t**2 / (3 * beta.delta))
    return float((beta.norm + np.sqrt(spread)) ** 2)


def one_hot(values: Any) -> Any:
    """Return all exposure on the first of the largest values."""
    return np.eye(len(values))[int(np.argmax(values))]


def deployed(policy: Any, history: Any, arms: Any, contexts: Any, rng: Any) -> Any:
    """Return what a policy deploys after a history of (arm, context, reward), all at once."""
    kind = type(policy).__name__
    if "Lin" in kind:
        return deployed_linear(policy, history, contexts, rng)
    pulls = np.array([sum(one[0] == arm for one in history) for arm in arms])
    sums = np.array([sum(one[2] for one in history if one[0] == arm) for arm in arms])
    means = sums / np.maximum(pulls, 1)
    if kind == "Uniform":
        return np.full(len(arms), 1 / len(arms))
    if kind == "OptimalFair":
        return oracles.fair(policy.merit, [policy.means[arm] for arm in arms])
    if kind.endswith("EG"):
        return mixed(policy, means)
    if kind.endswith("TS"):
        precision = pulls / policy.reward_std**2 + 1 / policy.prior_std**2
        spread = rng.standard_normal(len(arms)) / np.sqrt(precision)
        draw = sums / policy.reward_std**2 / precision + spread
        return oracles.fair(policy.merit, draw) if kind == "FairXTS" else one_hot(draw)
    if (pulls == 0).any():
        return one_hot(pulls == 0)
    if kind == "UCB":
        return one_hot(means + policy.width / np.sqrt(pulls))
    rewards = [[one[2] for one in history if one[0] == arm] for arm in arms]
    low, high = clipped(policy, np.transpose([interval(policy, each) for each in rewards]))
    if hasattr(policy.solver, "rate"):
        start = np.clip(means, low, high)
        found = oracles.climbed_in_box(policy.merit, start, low, high, policy.solver)
        return oracles.fair(policy.merit, found)
    return oracles.fair(policy.merit, best_point(policy.merit, low, high))


def clipped(policy: Any, means: Any) -> Any:
    """Return means within the bounds of a policy."""
    return means if policy.bounds is None else np.clip(means, *policy.bounds)


def interval(policy: Any, rewards: Any) -> tuple[float, float]:
    """Return the ends of the interval of an arm, by the definitions, before it is clipped."""
    kind, mean, pulls = type(policy.interval).__name__, np.mean(rewards), len(rewards)
    if kind == "Hoeffding":
        return mean - policy.width / np.sqrt(pulls), mean + policy.width / np.sqrt(pulls)
    low, high = policy.bounds
    term = 2 * (policy.width / (high - low)) ** 2
    if kind == "Bernstein":
        if pulls < 2:
            return -np.inf, np.inf
        half = np.sqrt(2 * np.var(rewards, ddof=1) * term / pulls)
        half += 7 * (high - low) * term / (3 * (pulls - 1))
        return mean - half, mean + half
    p = min(max((mean - low) / (high - low), 0.0), 1.0)

    def excess(q: float) -> float:
        parts = [a * np.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0]
        return float(pulls * sum(parts) - term)

    ends = [1e-300, p, 1 - 1e-16]
    least = brentq(excess, ends[0], p, xtol=1e-15) if p > 0 else 0.0
    most = brentq(excess, p, ends[2], xtol=1e-15) if p < 1 else 1.0
    return low + (high - low) * least, low + (high - low) * most


def best_point(merit: Any, low: Any, high: Any) -> Any:
    """Return the best of all corners, and of all knots that a merit has."""
    ends = [list(pair) for pair in zip(low, high, strict=True)]
    for one in ends:
        one += [knot for knot in getattr(merit, "knots", ()) if one[0] < knot < one[1]]
    return max(itertools.product(*ends), key=lambda means: oracles.value(merit, means))


def mixed(policy: Any, means: Any) -> Any:
    """Return the policy of the estimates, mixed with the uniform one."""
    greedy = oracles.fair(policy.merit, means) if hasattr(policy, "merit") else one_hot(means)
    return (1 - policy.epsilon) * greedy + policy.epsilon / len(means)


def deployed_linear(policy: Any, history: Any, contexts: Any, rng: Any) -> Any:
    """Return what a policy with contexts deploys: everything from a batch solve."""
    kind, dimension = type(policy).__name__, contexts.shape[1]
    thompson = kind.endswith("TS")
    penalty = (policy.reward_std / policy.prior_std) ** 2 if thompson else policy.ridge
    seen = np.array([one[1] for one in history]).reshape(-1, dimension)
    precision, estimate = oracles.ridge(seen, np.array([one[2] for one in history]), penalty)
    inverse = np.linalg.inv(precision)
    if kind.endswith("EG"):
        return mixed(policy, within(policy, contexts @ estimate))
    if thompson:
        # The root of the inverse that is upper triangular.
        root = np.linalg.cholesky(inverse[::-1, ::-1])[::-1, ::-1]
        parameter = estimate + policy.reward_std * root @ rng.standard_normal(dimension)
        draw = within(policy, contexts @ parameter)
        return oracles.fair(policy.merit, draw) if hasattr(policy, "merit") else one_hot(draw)
    radius = np.sqrt(squared_radius(policy.beta, len(history) + 1, dimension))
    if kind == "LinUCB":
        widths = np.sqrt(np.einsum("ai,ij,aj->a", contexts, inverse, contexts))
        return one_hot(contexts @ estimate + radius * widths)
    climbed = oracles.climbed_in_ellipsoid if hasattr(policy.solver, "rate") else ascended
    merit = policy.merit if policy.bounds is None else Within(policy.merit, policy.bounds)
    means = climbed(merit, estimate, precision, radius, contexts, policy.solver)
    return oracles.fair(policy.merit, within(policy, means))


def within(policy: Any, means: Any) -> Any:
    """Return means within the bounds of a policy, if it has any."""
    return clipped(policy, means) if hasattr(policy, "bounds") else means


class Within(NamedTuple):
    """A merit for means that count as the nearer bound where they lie beyond it."""

    merit: Any
    bounds: tuple[float, float]


def ascended(
    merit: Any, estimate: Any, precision: Any, radius: float, contexts: Any, solver: Any
) -> Any:
    """Return the highest of the ends that closed-form steps reach from several starts."""
    centre, spread = contexts @ estimate, contexts @ np.linalg.inv(precision) @ contexts.T

    def farthest(gradient: Any) -> Any:
        length = np.sqrt(gradient @ spread @ gradient)
        return centre + (radius * spread @ gradient / length if length else 0.0)

    best = climbed(merit, centre, farthest, solver)
    bounds = centre + radius * np.sqrt(np.diag(spread))
    for arm in np.argsort(-bounds)[: solver.starts - 1]:
        if arm != np.argmax(best):
            found = climbed(merit, farthest(np.eye(len(centre))[arm]), farthest, solver)
            best = max(best, found, key=lambda means: oracles.value(merit, means))
    return best


def climbed(merit: Any, means: Any, farthest: Any, solver: Any) -> Any:
    """Return where steps lead that are halved, eight times at most, until they lead up."""
    values, tried, halved = [oracles.value(merit, means)], farthest(oracles.uphill(merit, means)), 0
    for _ in range(solver.steps - 1):
        found = oracles.value(merit, tried)
        if found > values[-1]:
            means, halved = tried, 0
            values.append(found)
            if found - values[-2] < solver.tolerance * (found - values[0]):
                break
            tried = farthest(oracles.uphill(merit, means))
        elif halved < 8:
            tried, halved = (tried + means) / 2, halved + 1
        else:
            break
    return means
