"""Whole simulations: every policy of fairx against plain C and plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import c_program
import numpy as np
import plain_numpy
from problems import Floats, LinearProblem, Problem, unit_contexts, yeast
from timing import Bar, Task, fastest, number, print_bars, print_table

import fairx
from fairx import environments

HEADERS = ("policy", "fairx", "C", "NumPy", "fairx / C", "NumPy / fairx")


class Case(NamedTuple):
    """A policy of fairx, the loops that do the same, and what was promised."""

    name: str
    policy: Any
    c: tuple[str, tuple[float, ...]] | None = None  # the name of the loop, and its settings
    numpy: Callable[[], plain_numpy.Policy] | None = None
    at_most_of_c: float | None = None
    at_least_of_numpy: float | None = None


def bandit_cases(problem: Problem) -> list[Case]:
    """Return all policies without contexts."""
    arms, steepness = problem.means.size, problem.steepness
    merit = fairx.Exponential(steepness)
    steps = partial(plain_numpy.FairUCB, arms, steepness, 0.1)
    return [
        Case(
            "FairXTS",
            fairx.FairXTS(merit, 1.0, 0.5),
            ("fair_ts", (1.0, 0.5)),
            partial(plain_numpy.FairTS, arms, steepness, 1.0, 0.5),
            at_most_of_c=0.6,
            at_least_of_numpy=100,
        ),
        Case(
            "FairXUCB, exact (NumPy: 10 steps)",
            fairx.FairXUCB(merit, 0.1),
            ("fair_ucb", (0.1,)),
            steps,
            at_most_of_c=0.6,
            at_least_of_numpy=500,
        ),
        Case(
            "FairXUCB, 10 gradient steps",
            fairx.FairXUCB(merit, 0.1, "gradient"),
            ("fair_ucb_gradient", (0.1, 0.01)),
            steps,
        ),
        Case(
            "FairXEG",
            fairx.FairXEG(merit, 0.05),
            ("fair_eg", (0.05,)),
            partial(plain_numpy.FairEG, arms, steepness, 0.05),
            at_most_of_c=1.2,
        ),
        Case("TS", fairx.TS(1.0, 0.5)),
        Case("UCB", fairx.UCB(0.1)),
        Case("EG", fairx.EG(0.05)),
        Case("OptimalFair", fairx.OptimalFair(merit, tuple(problem.means.tolist()))),
        Case("Uniform", fairx.Uniform()),
    ]


def linear_cases(problem: LinearProblem) -> list[Case]:
    """Return all policies with contexts."""
    dimension, steepness = problem.parameter.size, problem.steepness
    merit = fairx.Exponential(steepness)
    steps = partial(plain_numpy.FairLinUCB, dimension, steepness, 0.1, 1.0)
    return [
        Case(
            "FairXLinTS",
            fairx.FairXLinTS(merit, 1.0, 0.1),
            ("fair_lin_ts", (1.0, 0.1)),
            partial(plain_numpy.FairLinTS, dimension, steepness, 1.0, 0.1),
            at_most_of_c=1.0,
            at_least_of_numpy=30,
        ),
        Case(
            "FairXLinTS (NumPy: inverse kept)",
            fairx.FairXLinTS(merit, 1.0, 0.1),
            numpy=partial(plain_numpy.FairLinTSKept, dimension, steepness, 1.0, 0.1),
        ),
        Case(
            "FairXLinUCB, ascent (others: 10 steps)",
            fairx.FairXLinUCB(merit, 0.1, 1.0),
            ("fair_lin_ucb", (0.1, 1.0)),
            steps,
            at_least_of_numpy=25,
        ),
        Case(
            "FairXLinUCB, 10 gradient steps",
            fairx.FairXLinUCB(merit, 0.1, 1.0, "gradient"),
            ("fair_lin_ucb", (0.1, 1.0)),
            steps,
        ),
        Case(
            "FairXLinEG",
            fairx.FairXLinEG(merit, 0.05, 1.0),
            ("fair_lin_eg", (0.05, 1.0)),
            partial(plain_numpy.FairLinEG, dimension, steepness, 0.05, 1.0),
        ),
        Case("LinTS", fairx.LinTS(1.0, 0.1)),
        Case("LinUCB", fairx.LinUCB(0.1, 1.0)),
        Case("LinEG", fairx.LinEG(0.05, 1.0)),
    ]


class Players:
    """The three ways to play a case, each returning both regrets of one run."""

    def __init__(self, problem: Problem | LinearProblem) -> None:
        self.problem, self.merit = problem, fairx.Exponential(problem.steepness)
        self.program = c_program.build()
        self.world: Any
        if isinstance(problem, Problem):
            self.world = environments.Bernoulli(problem.means)
        else:
            self.world = environments.Linear(*problem[:3])

    def fairx(self, case: Case, rounds: int, seed: int = 1) -> Floats:
        """Simulate."""
        result = fairx.simulate(
            case.policy, self.world, self.merit, rounds=rounds, seed=seed, jobs=1
        )
        return np.array([result.fairness_regret[0, -1], result.reward_regret[0, -1]])

    def c(self, case: Case, rounds: int, seed: int = 1) -> Floats:
        """Call the C loop."""
        assert case.c is not None
        return self.program.play(case.c[0], self.problem, case.c[1], rounds, seed)

    def numpy(self, case: Case, rounds: int, seed: int = 1) -> Floats:
        """Play the NumPy loop."""
        assert case.numpy is not None
        if isinstance(self.problem, Problem):
            return plain_numpy.play(self.problem, case.numpy(), rounds, seed)
        return plain_numpy.play_linear(self.problem, case.numpy(), rounds, seed)


def key(kind: str, case: Case) -> str:
    """Return a name for what is timed: two cases may share a policy or a loop."""
    parts = {"fairx": repr(case.policy), "C": case.c, "NumPy": case.numpy}
    return f"{kind} {parts[kind]}"


def tasks_of(players: Players, cases: list[Case], rounds: int) -> dict[str, Task]:
    """Return all there is to time; NumPy plays a hundredth of the rounds, for it is slow."""
    tasks = {}
    for case in cases:
        players.fairx(case, 16)  # compiles, or loads from the disk cache
        tasks[key("fairx", case)] = Task(partial(players.fairx, case), rounds)
        if case.c is not None:
            tasks[key("C", case)] = Task(partial(players.c, case), rounds // 2)
        if case.numpy is not None:
            few = max(500, rounds // 100)
            tasks[key("NumPy", case)] = Task(partial(players.numpy, case), few)
    return tasks


def report(title: str, players: Players, cases: list[Case], rounds: int, passes: int) -> None:
    """Time all cases and print them with their bars."""
    seconds = fastest(tasks_of(players, cases, rounds), passes)
    rows, bars = [], []
    for case in cases:
        own = seconds[key("fairx", case)]
        c, numpy = (seconds.get(key(kind, case)) for kind in ("C", "NumPy"))
        nanoseconds = [each and 1e9 * each for each in (own, c, numpy)]
        ratios = c and own / c, numpy and numpy / own
        rows.append([case.name, *map(number, (*nanoseconds, *ratios))])
        bars += bars_of(case, *ratios)
    print_table(f"{title}: nanoseconds per round", HEADERS, rows)
    print_bars(bars)


def bars_of(case: Case, of_c: float | None, of_numpy: float | None) -> list[Bar]:
    """Return what was promised of a case."""
    bars = []
    if case.at_most_of_c is not None and of_c is not None:
        bars.append(Bar(f"{case.name}: fairx / C", of_c, at_most=case.at_most_of_c))
    if case.at_least_of_numpy is not None and of_numpy is not None:
        what = f"{case.name}: NumPy / fairx"
        bars.append(Bar(what, of_numpy, at_least=case.at_least_of_numpy))
    return bars


def run_bandits(rounds: int, passes: int) -> None:
    """Print the table of the policies without contexts."""
    problem = yeast()
    title = f"Without contexts (K=14, {rounds:,} rounds)"
    report(title, Players(problem), bandit_cases(problem), rounds, passes)


def run_linear(rounds: int, passes: int) -> None:
    """Print the table of the policies with contexts."""
    problem = unit_contexts()
    title = f"With contexts (K=14, d=50, 2,000 examples, {rounds:,} rounds)"
    report(title, Players(problem), linear_cases(problem), rounds, passes)
