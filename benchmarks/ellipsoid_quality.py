"""Line 7 of Algorithm 3: "ascent" and "gradient" against the best of many starts of SLSQP."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
from problems import Floats
from scipy.optimize import minimize
from timing import Bar, print_bars, print_table

import fairx
from fairx.compiled import entry
from fairx.policies.objectives import Within
from fairx.policies.ridge import new_ridge, regress

DIMENSION = 50
ARMS, OBSERVATIONS, BETAS, STEEPNESSES = (14, 100), (50, 500, 5000), (0.01, 0.1, 1.0, 10.0), (3, 10)
NEAR = 0.99


class Found(NamedTuple):
    """The share of the attainable optimism that each solver captured on one state."""

    arms: int
    beta: float
    ascent: float
    gradient: float


@entry
def learn_all(state, contexts, rewards, work):  # type: ignore[no-untyped-def]
    """Take in many rewards."""
    for i in range(len(rewards)):
        regress(state, contexts[i], rewards[i], work)


@entry
def deploy(solver, merit, state, radius, contexts, work, out):  # type: ignore[no-untyped-def]
    """Solve, from Python."""
    solver.deploy_within(Within(merit, None), state, radius, contexts, work, out)


def run_ellipsoid(states: int, starts: int) -> None:
    """Print how much of the attainable optimism each solver captures."""
    rng = np.random.default_rng(2)
    settings = itertools.product(ARMS, OBSERVATIONS, BETAS, STEEPNESSES, range(states))
    found = [measured(*setting[:4], starts, rng) for setting in settings]
    groups: dict[tuple[int, float], list[Found]] = {}
    for each in found:
        groups.setdefault((each.arms, each.beta), []).append(each)
    rows = [[str(arms), str(beta), *summary(group)] for (arms, beta), group in groups.items()]
    rows.append(["all", "", *summary(found)])
    title = (
        f"Share of the attainable optimism (d={DIMENSION}, {OBSERVATIONS} observations, steepness"
        f" {STEEPNESSES}, {states} states each; reference: the best of {starts} SLSQP starts)"
    )
    ascent, gradient = ("ascent >= 99 %", "worst"), ("gradient >= 99 %", "median", "worst")
    headers = ("K", "beta", "states", *ascent, *gradient)
    print_table(title, headers, rows)
    below = sum(each.ascent < each.gradient - 1e-9 for each in found)
    print_bars([Bar("states where ascent is below gradient", below, at_most=0)])


def summary(found: list[Found]) -> list[str]:
    """Return one row of the table."""
    ascent, gradient = np.array([each[2:] for each in found]).T
    near = [f"{100 * np.mean(each >= NEAR):.1f} %" for each in (ascent, gradient)]
    worst = [f"{100 * each.min():.1f} %" for each in (ascent, gradient)]
    median = f"{100 * np.median(gradient):.1f} %"
    return [str(len(found)), near[0], worst[0], near[1], median, worst[1]]


def measured(
    arms: int,
    observations: int,
    beta: float,
    steepness: float,
    starts: int,
    rng: np.random.Generator,
) -> Found:
    """Solve one random state in all ways."""
    merit, state = fairx.Exponential(steepness), random_state(observations, rng)
    contexts = unit_rows(rng.standard_normal((arms, DIMENSION)))
    problem = Ball(state, contexts, math.sqrt(beta), steepness)
    start = problem.value(problem.centre)
    ascent, gradient = (
        problem.value(solver_means(solver, at, merit, state, contexts, math.sqrt(beta)))
        for solver, at in ((fairx.Ascent(), 2 * arms), (fairx.Gradient(), 0))
    )
    best = max(ascent, gradient, problem.best_of(starts, rng))
    return Found(arms, beta, (ascent - start) / (best - start), (gradient - start) / (best - start))


def random_state(observations: int, rng: np.random.Generator) -> Any:
    """Return a regression, ridge 1, that has seen unit contexts with noise of 0.3."""
    parameter = unit_rows(rng.standard_normal((1, DIMENSION)))[0]
    contexts = unit_rows(rng.standard_normal((observations, DIMENSION)))
    rewards = contexts @ parameter + 0.3 * rng.standard_normal(observations)
    state = new_ridge(1, DIMENSION, 1.0)
    rest = (contexts, rewards, np.empty(2 * DIMENSION))
    run, low = learn_all.ready((state,), lambda run, low: run(*low, contexts, rewards[:0], rest[2]))
    run(*low, *rest)
    return state


def solver_means(
    solver: Any, at: int, merit: Any, state: Any, contexts: Floats, radius: float
) -> Floats:
    """Return the means that a solver ends with, found in its working memory and checked."""
    arms = len(contexts)
    work, out = np.empty(fairx.FairXLinUCB(merit, 1, 1).needs(*contexts.shape)[1]), np.empty(arms)
    rest = (radius, contexts, work, out)
    run, low = deploy.ready((solver, merit, state), lambda run, low: run(*low, *rest))
    run(*low, *rest)
    means = work[at : at + arms]
    np.testing.assert_allclose(fairx.fair_probabilities(merit, means), out, rtol=1e-9)
    return means


def unit_rows(rows: Floats) -> Floats:
    scaled: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


class Ball:
    """The problem in coordinates where the ellipsoid is a ball: means = centre + white . y."""

    def __init__(self, state: Any, contexts: Floats, radius: float, steepness: float) -> None:
        self.centre, self.radius, self.steepness = contexts @ state.estimate, radius, steepness
        self.white = contexts @ np.linalg.inv(np.linalg.cholesky(state.precision)).T

    def value(self, means: Floats) -> float:
        """Return what the means promise under their own fair probabilities."""
        return float(np.dot(self.fair(means), means))

    def fair(self, means: Floats) -> Floats:
        """Return the fair probabilities, in plain NumPy."""
        weights: Floats = np.exp(self.steepness * (means - means.max()))
        weights /= weights.sum()
        return weights

    def best_of(self, starts: int, rng: np.random.Generator) -> float:
        """Run SLSQP from the centre and from the most promising of many points on the sphere."""
        dimension = self.white.shape[1]
        directions = np.vstack([self.white, -self.white, rng.standard_normal((50, dimension))])
        points = self.radius * unit_rows(directions)
        promises = [-self.value(self.centre + self.white @ point) for point in points]
        chosen = [np.zeros(dimension), *points[np.argsort(promises)[: starts - 1]]]
        return max(self.slsqp(point) for point in chosen)

    def slsqp(self, start: Floats) -> float:
        """Return what one start reaches, scaled back should it end outside the ball."""
        inside = {
            "type": "ineq",
            "fun": lambda y: self.radius**2 - y @ y,
            "jac": lambda y: -2 * y,
        }
        settings = {"maxiter": 300, "ftol": 1e-12}
        done = minimize(
            self.downhill, start, jac=True, method="SLSQP", constraints=[inside], options=settings
        )
        y = done.x * min(1.0, self.radius / max(float(np.linalg.norm(done.x)), 1e-300))
        return self.value(self.centre + self.white @ y)

    def downhill(self, y: Floats) -> tuple[float, Floats]:
        """Return minus the value, and its gradient."""
        means = self.centre + self.white @ y
        fair, value = self.fair(means), self.value(means)
        slopes = fair * (1 + self.steepness * (means - value))
        return -value, -(slopes @ self.white)
