"""The optimistic step against brute force."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import oracles
import pytest
from hypothesis import example, given, settings
from strategies import boxes, log_concave, piecewise

from fairx import Ascent, Custom, Exponential, FairXUCB, Gradient
from fairx.policies.objectives import Within
from fairx.policies.optimism import Exact, empty_box, set_interval
from fairx.policies.ridge import Ridge


def optimum(solver: Any, merit: Any, low: Any, high: Any) -> Any:
    """Return the probabilities that the solver deploys for a given box."""
    state, n = empty_box(len(low)), len(low)
    for arm in range(n):
        state.pulls[arm], state.reward_sums[arm] = 1.0, (low[arm] + high[arm]) / 2
        set_interval(state, arm, low[arm], high[arm], merit)
    out = np.empty(n)
    with np.errstate(all="ignore"):
        solver.deploy_optimum(merit, state, np.arange(n), np.empty(2 * n), out)
    return out


def promised(merit: Any, low: Any, high: Any, deployed: Any) -> float:
    """Return the value of the ends (or knots) whose fair probabilities are `deployed`."""
    candidates = [list(ends) for ends in zip(low, high, strict=True)]
    for ends in candidates:
        ends += [knot for knot in getattr(merit, "knots", ()) if ends[0] < knot < ends[1]]
    points = list(itertools.product(*candidates))
    gaps = np.array([np.abs(oracles.fair(merit, means) - deployed).max() for means in points])
    assert gaps.min() < 1e-9
    alike = np.flatnonzero(gaps <= gaps.min() + 1e-14)  # equal merits: several points may be
    return max(oracles.value(merit, points[i]) for i in alike)


def relative(gap: float, low: Any, high: Any) -> float:
    return float(gap / max(1.0, np.abs([low, high]).max()))


@example(Exponential(28.6484375), ([-1.0, -3.8036231877064277], [1.0, 3.8036231877064277]))
@settings(max_examples=300, deadline=None)
@given(log_concave(), boxes(most=8))
def test_exact_equals_all_corners(merit: Any, box: Any) -> None:
    low, high = box
    found = promised(merit, low, high, optimum(Exact(), merit, low, high))
    assert abs(relative(oracles.best_corner(merit, low, high) - found, low, high)) < 1e-12


def test_exact_equals_all_corners_of_twelve_arms() -> None:
    rng = np.random.default_rng(0)
    for steepness in (0.5, 4.0, 12.0):
        merit, centres = Exponential(steepness), rng.random(12)
        widths = 10 ** rng.uniform(-3, 1, 12)
        low, high = centres - widths, centres + widths
        corners = np.where((np.arange(4096)[:, None] >> np.arange(12)) & 1, high, low)
        weights = np.exp(steepness * (corners - high.max()))
        best = ((weights * corners).sum(1) / weights.sum(1)).max()
        deployed = optimum(Exact(), merit, low, high)
        gaps = np.abs(weights / weights.sum(1, keepdims=True) - deployed).max(1)
        reached = (corners[gaps.argmin()] * deployed).sum()
        assert abs(best - reached) / max(1.0, np.abs(corners).max()) < 1e-12


@settings(max_examples=60, deadline=None)
@given(log_concave(), boxes(most=3))
def test_no_interior_point_is_better(merit: Any, box: Any) -> None:
    low, high = box
    found = promised(merit, low, high, optimum(Exact(), merit, low, high))
    assert relative(oracles.best_grid_point(merit, low, high, 9) - found, low, high) < 1e-12


@settings(max_examples=100, deadline=None)
@given(piecewise(), boxes(most=3))
def test_piecewise_linear_is_exact_at_its_knots(merit: Any, box: Any) -> None:
    low, high = box
    found = promised(merit, low, high, optimum(Exact(), merit, low, high))
    assert relative(oracles.best_grid_point(merit, low, high, 9) - found, low, high) < 1e-12
    assert relative(oracles.best_corner(merit, low, high) - found, low, high) < 1e-12


def test_a_custom_merit_is_searched_within_its_intervals() -> None:
    merit = Custom(lambda mean: 1.0 + mean**4)
    low, high = [-1.0, 0.2], [1.5, 0.9]
    grid = oracles.best_grid_point(merit, low, high, 201)
    means = [merit.peak(a, b, grid) for a, b in zip(low, high, strict=True)]
    assert oracles.value(merit, means) >= grid
    deployed = optimum(Exact(), merit, low, high)
    np.testing.assert_allclose(deployed, oracles.fair(merit, means), atol=1e-4)


@pytest.mark.parametrize("width", [6.56, 100.0])
def test_equal_arms_in_wide_boxes_do_not_cycle(width: float) -> None:
    found = optimum(Exact(), Exponential(4), [0.5 - width] * 14, [0.5 + width] * 14)
    np.testing.assert_allclose(found.sum(), 1.0)


def ten_steps(merit: Exponential, low: Any, high: Any) -> Any:
    means = (low + high) / 2
    for _ in range(10):
        shares = oracles.fair(merit, means)
        expected = shares @ means
        slopes = shares * (1 + merit.steepness * (means - expected))
        means = np.clip(means + 0.01 * slopes, low, high)
    return means


def test_gradient_is_the_papers_ten_steps() -> None:
    merit, low, high = Exponential(4), np.array([0.1, 0.3, 0.2]), np.array([0.5, 0.5, 1.0])
    expected = oracles.fair(merit, ten_steps(merit, low, high))
    np.testing.assert_allclose(optimum(Gradient(), merit, low, high), expected, rtol=1e-12)


@pytest.mark.parametrize(("width", "most"), [(0.01, 1.0), (1.0, 0.4), (6.56, 0.1)])
def test_ten_steps_fall_short_in_wide_boxes(width: float, most: float) -> None:
    """The share of the attainable optimism that they capture falls with the width."""
    merit, means = Exponential(4), np.array([0.2, 0.3, 0.4, 0.5, 0.6])
    low, high = means - width, means + width
    start = oracles.value(merit, means)
    best = promised(merit, low, high, optimum(Exact(), merit, low, high))
    reached = oracles.value(merit, ten_steps(merit, low, high))
    assert start < reached <= start + most * (best - start) + 1e-12


def test_the_width_of_the_theorems() -> None:
    policy = FairXUCB.for_horizon(Exponential(1), rounds=1000, arms=7, delta=0.1)
    assert policy.width == math.sqrt(2 * math.log(4 * 1000 * 7 / 0.1))


def random_state(rng: Any, dimension: int, observations: int, ridge: float) -> Ridge:
    parameter = rng.normal(size=dimension)
    parameter /= np.linalg.norm(parameter)
    seen = rng.normal(size=(observations, dimension))
    seen /= np.linalg.norm(seen, axis=1, keepdims=True)
    rewards = seen @ parameter + 0.3 * rng.normal(size=observations)
    precision, estimate = oracles.ridge(seen, rewards, ridge)
    lower = np.linalg.cholesky(np.linalg.inv(precision)[::-1, ::-1])[::-1, ::-1].T  # W' D^(1/2)
    scales = np.diag(lower)
    factor = np.ascontiguousarray(lower / scales[:, None])
    return Ridge(
        precision, seen.T @ rewards, estimate, factor, scales**2, np.array([float(observations)])
    )


def ellipsoid_value(solver: Any, merit: Any, state: Ridge, radius: float, contexts: Any) -> float:
    """Return the value at the point the solver chose: the one its probabilities are fair to."""
    arms, dimension = contexts.shape
    work, out = np.zeros((arms + 1) * (dimension + 8) + 7 * arms + 2 * dimension), np.empty(arms)
    solver.deploy_within(Within(merit, None), state, radius, contexts, work, out)
    means = work[2 * arms : 3 * arms] if isinstance(solver, Ascent) else work[:arms]
    np.testing.assert_allclose(oracles.fair(merit, means), out, atol=1e-9)
    return oracles.value(merit, means)


@pytest.mark.parametrize("arms", [5, 14])
@pytest.mark.parametrize("observations", [10, 200])
@pytest.mark.parametrize("beta", [0.01, 1.0, 10.0])
def test_ascent_finds_the_attainable_optimism(arms: int, observations: int, beta: float) -> None:
    rng = np.random.default_rng([arms, observations, int(100 * beta)])
    for steepness in (3.0, 10.0):
        merit, state = Exponential(steepness), random_state(rng, 8, observations, 1.0)
        contexts = rng.normal(size=(arms, 8))
        contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)
        radius = math.sqrt(beta)
        start = oracles.value(merit, contexts @ state.estimate)
        best = oracles.best_in_ellipsoid(
            merit, state.estimate, state.precision, radius, contexts, 5
        )
        found = ellipsoid_value(Ascent(), merit, state, radius, contexts)
        gradient = ellipsoid_value(Gradient(), merit, state, radius, contexts)
        assert found - start >= 0.99 * (best - start)
        assert found >= gradient - 1e-12


def test_the_points_chosen_are_within_the_ellipsoid() -> None:
    rng = np.random.default_rng(3)
    state, contexts = random_state(rng, 4, 30, 1.0), np.eye(4)
    merit, radius = Exponential(5), 0.7
    for solver, kept in ((Ascent(), 8), (Gradient(steps=200, rate=0.5), 0)):
        work, out = np.zeros(200), np.empty(4)
        solver.deploy_within(Within(merit, None), state, radius, contexts, work, out)
        parameter = work[kept : kept + 4]  # with unit contexts the means are the parameter
        away = parameter - state.estimate
        assert away @ state.precision @ away == pytest.approx(radius**2, rel=1e-6)
