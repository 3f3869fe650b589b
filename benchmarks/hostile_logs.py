"""Logs that break intervals for one look: how often each interval misses, and how often it is withheld.

python benchmarks/hostile_logs.py    # some minutes; --logs 100 for a part; --plain: as if none were withheld
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta
from timing import Bar, print_bars, print_table

from fairx.evaluation import Logged, evaluate, looking

Floats = np.ndarray[Any, np.dtype[np.float64]]
MEANS = np.array([0.1, 0.3, 0.5, 0.6])
RISING = np.array([0.3, 0.4, 0.5, 0.6, 0.7])
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
ESTIMATORS = ("ips", "snips", "dm", "dr", "stabilised")


class Scene(NamedTuple):
    """Logs of one kind, and the policy that is evaluated on them."""

    make: Callable[[np.random.Generator], Logged]
    policy: Floats
    means: Floats


def coins(rng: np.random.Generator, means: Floats) -> Floats:
    """Return rewards of 0 and 1."""
    return (rng.random(means.size) < means).astype(float)


def heavy(rng: np.random.Generator, means: Floats) -> Floats:
    """Return rewards of Pareto's distribution, index 2.1."""
    return np.asarray(means * (1 + rng.pareto(2.1, means.size)) * 1.1 / 2.1)


def skewed(rng: np.random.Generator, means: Floats) -> Floats:
    """Return lognormal rewards."""
    return np.asarray(means * np.exp(rng.standard_normal(means.size) - 0.5))


def fixed(
    rows: int, shares: Floats, means: Floats = MEANS, draw: Any = coins
) -> Callable[[np.random.Generator], Logged]:
    """Return how to make logs of a policy that stays the same."""

    def make(rng: np.random.Generator) -> Logged:
        arms = rng.choice(shares.size, p=shares, size=rows)
        return Logged(arms, draw(rng, means[arms]), shares[arms], names=tuple(range(shares.size)))

    return make


def learning(
    rows: int, means: Floats, floor: Callable[[int], float], steepness: float | None = None
) -> Callable[[np.random.Generator], Logged]:
    """Return how to make logs of a policy that follows its rewards: the best so far, or a softmax."""

    def make(rng: np.random.Generator) -> Logged:
        shows, sums = np.zeros((2, means.size))
        chances, arms, rewards = np.empty((rows, means.size)), np.empty(rows, int), np.empty(rows)
        for row, (draw, luck) in enumerate(rng.random((rows, 2))):
            least = floor(row) / means.size
            if steepness is None:
                shares = np.zeros(means.size)
                shares[np.argmax(np.where(shows > 0, sums / np.maximum(shows, 1), 1.0))] = 1
            else:
                shares = np.exp(steepness * (sums + 0.5) / (shows + 1))
                shares /= shares.sum()
            shares = least + (1 - least * means.size) * shares
            arm = min(int(np.searchsorted(np.cumsum(shares), draw)), means.size - 1)
            reward = float(luck < means[arm])
            chances[row], arms[row], rewards[row] = shares, arm, reward
            shows[arm] += 1
            sums[arm] += reward
        return Logged(
            arms, rewards, chances[np.arange(rows), arms], probabilities=chances,
            names=tuple(range(means.size)),
        )  # fmt: skip

    return make


def rare(chance: float) -> Floats:
    """Return shares of which the last is small."""
    return np.array([0.4, 0.3, 0.3 - chance, chance])


EVEN, FIVE = np.full(4, 0.25), np.full(5, 0.2)
SOME = np.array([0.3, 0.3, 0.35, 0.05])  # of the arm that is hardly shown, 0.05
SCENES = {
    "500 decisions": Scene(fixed(500, SHARES), EVEN, MEANS),
    "smallest propensity .0005": Scene(fixed(5000, rare(0.0005)), SOME, MEANS),
    "smallest propensity .0001": Scene(fixed(5000, rare(0.0001)), SOME, MEANS),
    "rewards Pareto 2.1": Scene(fixed(500, SHARES, draw=heavy), EVEN, MEANS),
    "adaptive, floor .02": Scene(learning(1000, RISING, lambda _: 0.02), FIVE, RISING),
    "60 decisions": Scene(fixed(60, SHARES), EVEN, MEANS),
    "rewards lognormal": Scene(fixed(500, SHARES, draw=skewed), EVEN, MEANS),
    "rewards in 1 of 140": Scene(fixed(2000, SHARES, MEANS / 50), EVEN, MEANS / 50),
    "softmax that learns": Scene(learning(2000, RISING, lambda _: 0.02, 10.0), FIVE, RISING),
    "adaptive, one arm": Scene(
        learning(2000, np.full(2, 0.5), lambda _: 0.02), np.array([1.0, 0.0]), np.full(2, 0.5)
    ),
    "an arm shown 40 times, of .05": Scene(
        fixed(8000, np.array([0.6, 0.395, 0.005]), np.array([0.2, 0.5, 0.05])),
        np.array([0.2, 0.3, 0.5]),
        np.array([0.2, 0.5, 0.05]),
    ),
}


def asked(scene: Scene, log: Logged, estimator: str) -> tuple[bool, bool] | None:
    """Return whether the interval is withheld, and whether it holds; nothing where it is refused."""
    try:
        found = evaluate(log, scene.policy, estimator)
    except ValueError:  # an arm that was never shown has no support
        assert np.bincount(log.arms, minlength=len(log.names)).min() == 0
        return None
    truth = float(scene.policy @ scene.means)
    return bool(found.withheld), found.low <= truth <= found.high


def _rate(held: int, given: int) -> str:
    """Return the rate of intervals that hold, with its own exact one of 95 %."""
    if not given:
        return "-"
    low = beta.ppf(0.025, held, given - held + 1) if held else 0.0
    high = beta.ppf(0.975, held + 1, given - held) if held < given else 1.0
    return f"{100 * held / given:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def table(logs: int, plain: bool) -> None:
    """Print the rates of all scenes."""
    rows, bars = [], []
    if plain:
        vars(looking)["reasons"] = lambda *_: ()
    for number, (name, scene) in enumerate(SCENES.items()):
        made = [scene.make(np.random.default_rng([number, seed])) for seed in range(logs)]
        estimators = ESTIMATORS if made[0].probabilities is not None else ESTIMATORS[:-1]
        for estimator in estimators:
            told = [one for log in made if (one := asked(scene, log, estimator)) is not None]
            withheld, held = np.array(told).T
            given = np.count_nonzero(~withheld)
            misses = 100 * float(np.mean(~withheld & ~held))
            holds = _rate(int(np.count_nonzero(~withheld & held)), int(given))
            cells = [f"{100 * np.mean(withheld):.0f}", holds, f"{misses:.1f}"]
            rows.append([name, estimator, str(len(told)), *cells])
            bars.append(Bar(f"{name}, {estimator}: misses, % of logs", misses, at_most=7))
    headers = ("logs", "estimator", "not refused", "withheld, %", "given: holds, %", "misses, %")
    print_table(f"95 % intervals for one look, {logs} logs each", headers, rows)
    if not plain:
        print_bars(bars)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=400)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    table(options.logs, options.plain)
