"""Slow and obvious: the definitions, written down without regard to speed."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import optimize


def merits_of(merit: Any, means: Any) -> Any:
    """Return merits up to a common factor; equal ones where no arm has any."""
    logs = np.array([merit.log(float(mean)) for mean in means])
    return np.exp(logs - logs.max()) if logs.max() > -np.inf else np.ones(len(logs))


def fair(merit: Any, means: Any) -> Any:
    weights = merits_of(merit, means)
    return weights / weights.sum()


def value(merit: Any, means: Any) -> float:
    if hasattr(merit, "bounds"):
        return value(merit.merit, np.clip(means, *merit.bounds))
    return float(fair(merit, means) @ np.asarray(means))


def best_corner(merit: Any, low: Any, high: Any) -> float:
    """Return the best value over all corners of the box."""
    corners = itertools.product(*zip(low, high, strict=True))
    return max(value(merit, corner) for corner in corners)


def best_grid_point(merit: Any, low: Any, high: Any, points: int) -> float:
    """Return the best value over a grid of the box."""
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    return max(value(merit, point) for point in itertools.product(*axes))


def ridge(contexts: Any, rewards: Any, penalty: float) -> tuple[Any, Any]:
    """Return precision and estimate, solved from the whole history at once."""
    precision = penalty * np.eye(contexts.shape[1]) + contexts.T @ contexts
    return precision, np.linalg.solve(precision, contexts.T @ rewards)


def best_in_ellipsoid(
    merit: Any, estimate: Any, precision: Any, radius: float, contexts: Any, starts: int
) -> float:
    """Return the best value over the ellipsoid that many SLSQP starts find."""
    root = np.linalg.inv(np.linalg.cholesky(precision)).T  # columns span the ellipsoid
    white, centre = contexts @ root, contexts @ estimate
    rng = np.random.default_rng(0)

    def objective(point: Any) -> tuple[float, Any]:
        means = centre + white @ point
        shares, expected = fair(merit, means), value(merit, means)
        slopes = np.array([merit.log_slope(float(mean)) for mean in means])
        return -expected, -white.T @ (shares * (1 + slopes * (means - expected)))

    bound = {
        "type": "ineq",
        "fun": lambda point: radius**2 - point @ point,
        "jac": lambda point: -2 * point,
    }
    sizes = np.linalg.norm(white, axis=1)
    arms = np.argsort(-(centre + radius * sizes))[:starts]
    tries = [np.zeros(white.shape[1])] + [0.9 * radius * white[arm] / sizes[arm] for arm in arms]
    tries += [radius * row / 10 for row in rng.normal(size=(starts, white.shape[1]))]
    best = -np.inf
    for start in tries:
        found = optimize.minimize(
            objective,
            start,
            jac=True,
            method="SLSQP",
            constraints=[bound],
            options={"maxiter": 300, "ftol": 1e-12},
        ).x
        found *= min(1.0, radius / max(float(np.linalg.norm(found)), 1e-300))
        best = max(best, -objective(found)[0])
    return float(best)


def regrets(fair_shares: Any, deployed: Any, means: Any) -> tuple[float, float]:
    """Return both regrets of one round, by definition."""
    fairness = reward = 0.0
    for arm in range(len(means)):
        fairness += abs(fair_shares[arm] - deployed[arm])
        reward += fair_shares[arm] * means[arm] - deployed[arm] * means[arm]
    return fairness, reward


def product_features(features: Any, arms: int, seed: int, dimension: int, bandwidth: float) -> Any:
    """Return random Fourier features of the K d-dimensional products, each of them made."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, dimension)
    blocks = [rng.standard_normal((features.shape[1], dimension)) for _ in range(arms)]
    directions = np.vstack(blocks) / bandwidth
    out = np.empty((len(features), arms, dimension))
    for example, row in enumerate(features):
        for arm in range(arms):
            product = np.outer(np.eye(arms)[arm], row).ravel()
            out[example, arm] = np.sqrt(2 / dimension) * np.cos(product @ directions + angles)
    return out


def uphill(merit: Any, means: Any) -> Any:
    """Return the gradient of `value`, 0 for means beyond their bounds."""
    if hasattr(merit, "bounds"):
        inside = np.clip(means, *merit.bounds)
        return uphill(merit.merit, inside) * (inside == means)
    shares, expected = fair(merit, means), value(merit, means)
    slopes = np.array([merit.log_slope(float(mean)) for mean in means])
    return shares * (1 + slopes * (np.asarray(means) - expected))


def climbed_in_box(merit: Any, start: Any, low: Any, high: Any, solver: Any) -> Any:
    """Return the means after all gradient steps, each brought back into the box."""
    means = np.array(start)
    for _ in range(solver.steps):
        means = np.clip(means + solver.rate * uphill(merit, means), low, high)
    return means


def climbed_in_ellipsoid(
    merit: Any, estimate: Any, precision: Any, radius: float, contexts: Any, solver: Any
) -> Any:
    """Return the means after all gradient steps, each brought back along a ray from the centre."""
    parameter = np.array(estimate)
    for _ in range(solver.steps):
        step = solver.rate * contexts.T @ uphill(merit, contexts @ parameter)
        away = parameter + step - estimate
        length = np.sqrt(away @ precision @ away)
        parameter = estimate + (away if length <= radius else away * radius / length)
    return contexts @ parameter


def fair_exposure(merits: Any, weights: Any) -> Any:
    """Return the fair exposures of exact merits: saturate the tightest set of top arms, and go on."""
    order = sorted(range(len(merits)), key=lambda arm: -merits[arm])
    f = [merits[arm] for arm in order]
    v = list(weights) + [0] * (len(f) - len(weights))
    found: list[Any] = []
    while (i := len(found)) < len(f):
        ends = range(i + 1, len(f) + 1)
        slope, end = min((Fraction(sum(v[i:m]), sum(f[i:m])), -m) for m in ends)
        found += [slope * merit for merit in f[i:-end]]
    out = np.empty(len(f))
    out[order] = [float(exposure) for exposure in found]
    return out


def places_value(merit: Any, means: Any, weights: Any) -> float:
    """Return what means promise on all places under their own fair exposures."""
    merits = [Fraction(float(f)) for f in merits_of(merit, means)]
    exposures = fair_exposure(merits, [Fraction(float(w)) for w in weights])
    return float(exposures @ np.asarray(means))


def least_apart(exposures: Any, weights: Any, first: int, second: int) -> float:
    """Return the least largest difference, over places, that the chances of two arms can have."""
    n, k = len(exposures), len(weights)
    of_arm, of_place = np.kron(np.eye(n), np.ones(k)), np.kron(np.ones(n), np.eye(k))
    apart = np.kron(np.eye(n)[first] - np.eye(n)[second], np.eye(k))
    column = np.ones((k, 1))
    exact = np.vstack([np.kron(np.eye(n), weights), of_place])
    found = optimize.linprog(
        np.eye(n * k + 1)[-1],
        np.vstack(
            [
                np.hstack([of_arm, np.zeros((n, 1))]),
                np.hstack([apart, -column]),
                np.hstack([-apart, -column]),
            ]
        ),
        np.append(np.ones(n), np.zeros(2 * k)),
        np.hstack([exact, np.zeros((n + k, 1))]),
        np.append(exposures, np.ones(k)),
    )
    return float(found.fun)
