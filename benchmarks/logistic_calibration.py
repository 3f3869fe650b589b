"""Do the intervals of online logistic posteriors cover as often as they say? Three updates, compared.

Worlds are drawn from the prior, so that the exact posterior covers as often as it says, whoever chose the
contexts; here FairX-LinTS for chances chooses among five arms, by each posterior for itself.

    python benchmarks/logistic_calibration.py --worlds 2000
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

from fairx.compiled import entry
from fairx.policies.logistic import tilted

ARMS, STEEPNESS, PROBES = 5, 4.0, 20
LEVELS = (0.5, 0.9, 0.99)
Update = Callable[[Any, Any, Any], tuple[Any, Any]]


@entry
def tilt_each(centres, variances, rewards, surprises, weights):  # type: ignore[no-untyped-def]
    """Do as `tilted` for each world."""
    for i in range(len(centres)):
        surprises[i], weights[i] = tilted(centres[i], variances[i], rewards[i])


def filtered(centre: Any, variance: Any, reward: Any) -> tuple[Any, Any]:
    """Return the mean and the precision gained along the context: assumed density filtering, ours."""
    surprise, weight = np.empty((2, len(centre)))
    none = np.empty(0)
    run, _ = tilt_each.ready((), lambda run, _: run(none, none, none, none, none))
    run(np.ascontiguousarray(centre), np.ascontiguousarray(variance), reward, surprise, weight)
    return centre + variance * surprise, weight


def laplace(centre: Any, variance: Any, reward: Any) -> tuple[Any, Any]:
    """Return the mode, and the curvature of the likelihood there."""
    low, high = centre + variance * (reward - 1), centre + variance * reward
    for _ in range(60):
        z = (low + high) / 2
        up = (centre - z) / variance + reward - 1 / (1 + np.exp(-z)) > 0
        low, high = np.where(up, z, low), np.where(up, high, z)
    chance = 1 / (1 + np.exp(-z))
    return z, chance * (1 - chance)


def bounded(centre: Any, variance: Any, reward: Any) -> tuple[Any, Any]:
    """Return the mean and precision of the lower bound of Jaakkola and Jordan (2000)."""
    xi = np.sqrt(variance + centre**2)
    for _ in range(30):
        weight = np.tanh(xi / 2) / (2 * np.maximum(xi, 1e-9))
        left = 1 / (1 / variance + weight)
        mean = left * (centre / variance + reward - 0.5)
        xi = np.sqrt(left + mean**2)
    return mean, weight


UPDATES: dict[str, Update] = {"filtering": filtered, "Laplace": laplace, "JJ bound": bounded}


def played(update: Update, rounds: int, dimension: int, spread: float, worlds: int) -> list[float]:
    """Return how often intervals cover, by level, after so many rounds in worlds of the prior."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(worlds, dimension))
    mean, covariance = np.zeros((worlds, dimension)), np.tile(np.eye(dimension), (worlds, 1, 1))
    scale, each = spread / np.sqrt(dimension), np.arange(worlds)
    for _ in range(rounds):
        contexts = scale * rng.normal(size=(worlds, ARMS, dimension))
        root = np.linalg.cholesky(covariance)
        draw = mean + np.einsum("wij,wj->wi", root, rng.normal(size=(worlds, dimension)))
        merits = np.exp(STEEPNESS / (1 + np.exp(-np.einsum("wkd,wd->wk", contexts, draw))))
        shares = np.cumsum(merits, axis=1) / merits.sum(axis=1, keepdims=True)
        x = contexts[each, (shares < rng.random((worlds, 1))).sum(axis=1).clip(max=ARMS - 1)]
        chances = 1 / (1 + np.exp(-np.einsum("wd,wd->w", x, truth)))
        reward = (rng.random(worlds) < chances).astype(float)
        turned = np.einsum("wij,wj->wi", covariance, x)
        centre, variance = np.einsum("wd,wd->w", x, mean), np.einsum("wd,wd->w", x, turned)
        moved, weight = update(centre, variance, reward)
        mean += ((moved - centre) / variance)[:, None] * turned
        shrunk = weight / (1 + weight * variance)
        covariance -= shrunk[:, None, None] * turned[:, :, None] * turned[:, None, :]
    return covered(truth - mean, covariance, scale, rng)


def covered(error: Any, covariance: Any, scale: float, rng: np.random.Generator) -> list[float]:
    """Return how often the log-odds of new contexts lie within the intervals."""
    probes = scale * rng.normal(size=(len(error), PROBES, error.shape[1]))
    off = np.abs(np.einsum("wpd,wd->wp", probes, error))
    deviations = np.sqrt(np.einsum("wpi,wij,wpj->wp", probes, covariance, probes))
    quantiles = [NormalDist().inv_cdf((1 + level) / 2) for level in LEVELS]
    return [float(np.mean(off <= quantile * deviations)) for quantile in quantiles]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=2000)
    worlds = parser.parse_args().worlds
    print("rounds  d  spread  update     " + "  ".join(f"{level:.0%}" for level in LEVELS))
    for dimension, spread in ((5, 1.0), (20, 3.0), (20, 10.0)):
        for rounds in (10, 100, 500):
            for name, update in UPDATES.items():
                found = played(update, rounds, dimension, spread, worlds)
                rates = "  ".join(f"{rate:.3f}" for rate in found)
                print(f"{rounds:6} {dimension:2} {spread:7} {name:10} {rates}", flush=True)


if __name__ == "__main__":
    main()
