"""Do the three ways to play the same policy do the same work? Their regrets tell."""

from __future__ import annotations

import math

import numpy as np
from loops import Case, Players, bandit_cases, linear_cases
from problems import Floats, unit_contexts, yeast
from timing import Bar, print_bars, print_table

ERRORS = 5.0  # standard errors: chance alone exceeds them less than once in a million times


def run_agreement(rounds: int, runs: int) -> None:
    """Print the mean fairness regret per round of each, and their largest difference."""
    bandits, linear = yeast(), unit_contexts()
    pairs = [(Players(bandits), case) for case in bandit_cases(bandits)]
    pairs += [(Players(linear), case) for case in linear_cases(linear)]
    rows, largest = [], 0.0
    for players, case in pairs:
        if case.c is None or case.numpy is None or "steps)" in case.name:
            continue
        found = [fairness(players, kind, case, rounds, runs) for kind in ("fairx", "c", "numpy")]
        rows.append([case.name, *(f"{mean:.4f} +- {error:.4f}" for mean, error in found)])
        largest = max(largest, distance(found[0], found[1]), distance(found[0], found[2]))
    title = f"The same work: fairness regret per round, {runs} runs of {rounds:,} rounds"
    print_table(title, ("policy", "fairx", "C", "NumPy"), rows)
    print_bars([Bar("largest difference, in standard errors", largest, at_most=ERRORS)])


def fairness(
    players: Players, kind: str, case: Case, rounds: int, runs: int
) -> tuple[float, float]:
    """Return the mean over the runs, and its standard error."""
    play = getattr(players, kind)
    seeds = np.random.default_rng(1).integers(2**31, size=runs)
    regrets: Floats = np.array([play(case, rounds, int(seed))[0] / rounds for seed in seeds])
    return float(regrets.mean()), float(regrets.std(ddof=1) / math.sqrt(runs))


def distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return how many standard errors two means are apart."""
    return abs(one[0] - other[0]) / math.hypot(one[1], other[1])
