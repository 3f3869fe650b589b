"""What the solver of line 7, and the point its gradient steps start from, do to regret.

    python benchmarks/box_regret.py [--runs 32] [--only solvers|starts]

Regrets of FairX-UCB have heavy tails: beside each mean is its standard error, and the median.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
from timing import print_table

import fairx
from fairx import datasets, environments
from fairx.compiled import record
from fairx.exposure import put_all_on, share, uphill
from fairx.policies.counts import count_reward, first_unpulled

WIDTHS = (0.01, 0.1, 1.0, 6.56)  # the last is that of the theorems, about


class WarmState(NamedTuple):
    """Counts of each arm, and the optimistic means of the last round."""

    pulls: Any
    reward_sums: Any
    optimistic: Any


@record
class WarmUCB(NamedTuple):
    """FairX-UCB whose ten gradient steps start where those of the last round ended."""

    merit: Any
    width: float
    steps: int = 10
    rate: float = 0.01

    def needs(self, arms: int, dimension: int) -> tuple[int, int]:
        """Ask for room for the slopes."""
        return 0, arms

    def start(self, arms: int, dimension: int = 0) -> WarmState:
        """Return zeros."""
        return WarmState(np.zeros(arms), np.zeros(arms), np.zeros(arms))

    def propose(
        self, state: WarmState, arms: Any, contexts: Any, normals: Any, work: Any, out: Any
    ) -> None:
        """Play each arm once, then climb within the box from where the last climb ended."""
        unpulled = first_unpulled(state, arms)
        if unpulled >= 0:
            put_all_on(unpulled, out)
            return
        slopes = work[: len(arms)]
        for step in range(self.steps + 1):  # the first one only comes back into the box
            uphill(self.merit, state.optimistic, slopes)
            for arm in range(len(arms)):
                mean = state.reward_sums[arm] / state.pulls[arm]
                half = self.width / np.sqrt(state.pulls[arm])
                moved = state.optimistic[arm] + (self.rate * slopes[arm] if step > 0 else 0.0)
                state.optimistic[arm] = min(max(moved, mean - half), mean + half)
        share(self.merit, state.optimistic, out)

    def absorb(self, state: WarmState, arm: int, context: Any, reward: float, work: Any) -> None:
        """Count the reward; the first one of an arm is where its climb starts."""
        mean = count_reward(state, arm, reward)
        if state.pulls[arm] == 1.0:
            state.optimistic[arm] = mean

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:
        """Refuse: this is played by its inner form."""
        raise NotImplementedError

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:
        """Refuse: this is played by its inner form."""
        raise NotImplementedError


def finals(policy: Any, merit: Any, rounds: int, runs: int) -> Any:
    """Return the final fairness regret of each run, with the label frequencies of yeast."""
    world = environments.Bernoulli(datasets.load("yeast").labels.mean(axis=0))
    found = fairx.simulate(policy, world, merit, rounds=rounds, runs=runs, seed=1)
    return found.fairness_regret[:, -1]


def words(values: Any) -> str:
    """Return mean ± standard error (median)."""
    error = values.std(ddof=1) / np.sqrt(values.size)
    return f"{values.mean():,.0f} ± {error:,.0f} ({np.median(values):,.0f})"


def print_solvers(runs: int) -> None:
    """Print the regret of both solvers by width."""
    rows = []
    for steepness in (10, 4):
        merit = fairx.Exponential(steepness)
        for width in WIDTHS:
            both = [
                words(finals(fairx.FairXUCB(merit, width, solver), merit, 204_800, runs))
                for solver in ("exact", "gradient")
            ]
            rows.append([str(steepness), str(width), *both])
    title = f"Fairness regret after 204,800 rounds: mean ± standard error (median) of {runs} runs"
    print_table(title, ("steepness", "width", "exact", "gradient"), rows)


def print_starts(runs: int) -> None:
    """Print the regret of ten gradient steps from the means, and from where the last ones ended."""
    rows = []
    for steepness in (10, 4):
        merit = fairx.Exponential(steepness)
        for width in WIDTHS[:3]:
            means = finals(fairx.FairXUCB(merit, width, "gradient"), merit, 100_000, runs)
            warm = finals(WarmUCB(merit, width), merit, 100_000, runs)
            rows.append([str(steepness), str(width), *map(words, (means, warm, warm - means))])
    title = f"Fairness regret after 100,000 rounds: mean ± standard error (median) of {runs} runs"
    headers = ("steepness", "width", "from the means", "warm start", "difference, run by run")
    print_table(title, headers, rows)


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--only", choices=("solvers", "starts"), help="measure one")
    options = parser.parse_args()
    if options.only != "starts":
        print_solvers(options.runs)
    if options.only != "solvers":
        print_starts(options.runs)


if __name__ == "__main__":
    main()
