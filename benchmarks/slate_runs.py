"""Simulations with several places: time beside one place, how regret grows where caps bind, what is proved.

python benchmarks/slate_runs.py [speed] [growth] [proved]
"""

from __future__ import annotations

import functools
import itertools
import sys
import time
from typing import Any

import numpy as np
from problems import yeast
from timing import Bar, Task, fastest, number, print_bars, print_table

from fairx import Exponential, FairXTS, FairXUCB, Result, environments, simulate

LOGARITHMIC = (1 / np.log2(np.arange(2, 7))).tolist()
MARKS = (2000, 20_000, 200_000)
SHAPES: dict[str, dict[str, Any]] = {
    "logarithmic": {"weights": LOGARITHMIC},
    "equal": {"weights": 5},
    "logarithmic, clicks": {"weights": LOGARITHMIC, "feedback": "examined"},
}


def main() -> None:
    steps = {"speed": run_speed, "growth": run_growth, "proved": run_proved}
    for step in sys.argv[1:] or list(steps):
        steps[step]()


def run_speed() -> None:
    """Print what a round of FairX-TS takes, with one place and with three."""
    problem = yeast()
    merit, world = Exponential(4), environments.Bernoulli(problem.means)

    def play(rounds: int, **places: Any) -> Result:
        policy = FairXTS(merit, 1, 0.5)
        return simulate(policy, world, merit, rounds=rounds, seed=1, jobs=1, **places)

    ways: dict[str, dict[str, Any]] = {
        "as in the paper": {},
        "one place": {"weights": [1]},
        "three places": {"weights": [1, 0.63, 0.5]},
        "three equal places": {"weights": 3},
        "three places, clicks": {"weights": [1, 0.63, 0.5], "feedback": "examined"},
    }
    tasks = {name: Task(functools.partial(play, **way), 50_000) for name, way in ways.items()}
    for task in tasks.values():
        task.play(100)  # compiles
    found = fastest(tasks, 25, clock=time.process_time)
    first = found["as in the paper"]
    rows = [[name, number(1e6 * time), number(time / first)] for name, time in found.items()]
    print_table("A round of FairX-TS, K = 14: microseconds", ("places", "each", "/ paper"), rows)
    most = max(found[name] for name in found if name.startswith("three"))
    print_bars([Bar("three places / one, as in the paper", most / first, at_most=8)])


def run_growth(runs: int = 5) -> None:
    """Print fairness regret over time, with five places and a steep merit: caps bind."""
    merit, means = Exponential(10), yeast().means
    policies: dict[str, Any] = {
        "FairX-TS": FairXTS(merit, 1, 0.5),
        "FairX-UCB .1": FairXUCB(merit, 0.1),
    }
    rows, exponents, errors = [], [], []
    for label, policy in policies.items():
        for name, shape in SHAPES.items():
            result = simulate(
                policy, environments.Bernoulli(means), merit, rounds=MARKS[-1], runs=runs, seed=1,
                checkpoints=MARKS, **shape,
            )  # fmt: skip
            regret = result.fairness_regret.mean(axis=0)
            exponents.append(np.log10(regret[-1] / regret[-2]))
            errors.append(off(result))
            cells = [*map(number, regret), f"{exponents[-1]:.3f}", number(errors[-1])]
            rows.append([f"{label}, {name}", *cells])
    heads = ("policy, five places", *(f"{mark:,}" for mark in MARKS), "exponent", "frequencies")
    print_table(f"Fairness regret, mean of {runs} runs, exp(10 m)", heads, rows)
    print_bars(
        [
            Bar("exponent from 20,000 rounds on", max(exponents), at_most=0.6),
            Bar("shows - expected, standard errors", max(errors), at_most=5),
        ]
    )


def run_proved(rounds: int = 20_000, runs: int = 3) -> None:
    """Print which part of the optimistic steps of FairX-UCB is proved the best, run by run."""
    world, rows = environments.Bernoulli(yeast().means), []
    for c, k, width in itertools.product((4, 10), (3, 5), (0.1, 1)):
        merit, cells = Exponential(c), []
        for weights in (LOGARITHMIC[:k], k):
            settings: dict[str, Any] = {"rounds": rounds, "runs": runs, "seed": 1}
            found = simulate(FairXUCB(merit, width), world, merit, weights=weights, **settings)
            assert found.proved is not None
            cells.append(", ".join(f"{100 * part:.1f}" for part in found.proved))
        rows.append([f"exp({c} m), {k} places, width {width}", *cells])
    heads = ("FairX-UCB", "logarithmic, %", "equal, %")
    print_table(f"Steps proved the most optimistic, {rounds:,} rounds, by run", heads, rows)


def off(result: Result) -> float:
    """Return how far an arm was shown from what propensities say, in standard errors at most."""
    rounds = int(result.rounds[-1])
    expected = np.asarray(result.placements).sum(axis=2)
    error = np.sqrt(np.maximum(expected * (1 - expected), 1 / rounds) / rounds)
    return float((np.abs(result.pulls / rounds - expected) / error).max())


if __name__ == "__main__":
    main()
