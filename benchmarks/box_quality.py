"""Line 7 of Algorithm 1: the exact solver against brute force, and what ten steps capture of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from problems import Floats, yeast
from timing import Bar, print_bars, print_table

import fairx
from fairx.policies.optimism import Box, empty_box, set_interval

LOG_CONCAVE = (
    fairx.Exponential(4),
    fairx.Exponential(10),
    fairx.Exponential(200),  # its merits leave the range of numbers: another branch of the solver
    fairx.Affine(slope=1, intercept=0.5),
    fairx.Power(exponent=2, offset=1),
    fairx.Logistic(steepness=10, midpoint=0.5),
)
OTHERS = (
    fairx.PiecewiseLinear(knots=(0, 0.5, 1), values=(1, 1, 3)),
    fairx.Custom(lambda mean: 1.0 + 1.0 / (1.0 + math.exp(-20.0 * (mean - 0.5)))),  # a step
)
WIDTHS = (0.01, 0.1, 1.0, 6.56)  # half an interval after one pull; the last is that of the theory
SAME = (
    1e-12  # logarithms of merits this close give probabilities that are the same but for rounding
)
LEAST = 1e-300  # smaller shares are rounded up to the least number that our exponential returns
GRID = 41


def run_box(states: int) -> None:
    """Print the largest gap of the exact solver, and the share that gradient steps capture."""
    rng = np.random.default_rng(1)
    rows, bars = [], []
    for merit in LOG_CONCAVE + OTHERS:
        corners = [0.0] if merit in OTHERS else gaps(merit, 12, best_corner, states, rng)
        grid = gaps(merit, 3, best_of_grid, states, rng)
        name = "Custom, a step" if isinstance(merit, fairx.Custom) else str(merit)
        rows.append([name, "" if merit in OTHERS else f"{max(corners):.1e}", f"{max(grid):.1e}"])
        bars.append(max(*corners, *grid))
    title = f"The exact solver: what others find above it, {states} random boxes for each width"
    print_table(title, ("merit", "corners (K up to 12)", f"grid of {GRID}^3 (K=3)"), rows)
    print_bars([Bar("largest gap / 1e-9", max(bars) / 1e-9, at_most=1)])
    print_captured(states, rng)


def gaps(
    merit: Any, most: int, best: Callable[[Any, Box], float], states: int, rng: np.random.Generator
) -> list[float]:
    """Return by how much `best` beats the exact solver on random boxes of all widths."""
    found = []
    for width in WIDTHS:
        for _ in range(states):
            arms = most if best is best_of_grid else int(rng.integers(2, most + 1))
            pulls = np.floor(10 ** rng.uniform(0, 4, arms))
            box = filled_box(merit, pulls, rng.random(arms) * pulls, width)
            found.append(best(merit, box) - promised(merit, box, solved(merit, box)))
    return found


@np.errstate(over="ignore")  # steep merits: the solver finds out by itself
def filled_box(merit: Any, pulls: Floats, reward_sums: Floats, width: float) -> Box:
    """Return the intervals of arms that were pulled so often."""
    box = empty_box(pulls.size)
    box.pulls[:], box.reward_sums[:] = pulls, reward_sums
    means, halves = reward_sums / pulls, width / np.sqrt(pulls)
    for arm in range(pulls.size):
        set_interval(box, arm, means[arm] - halves[arm], means[arm] + halves[arm], merit)
    return box


@np.errstate(over="ignore", invalid="ignore")
def solved(merit: Any, box: Box) -> Floats:
    """Return the probabilities that the exact solver deploys."""
    arms = np.arange(box.pulls.size)
    out = np.empty(arms.size)
    fairx.Exact().deploy_optimum(merit, box, arms, np.empty(2 * arms.size), out)
    return out


def promised(merit: Any, box: Box, probabilities: Floats) -> float:
    """Return the most that means within the box promise, of all that these probabilities fit.

    Means with the same fair probabilities differ by one factor of all merits: the largest factor
    is that at which the first arm reaches the high end of its interval.
    """
    shown = [arm for arm, share in enumerate(probabilities) if share > LEAST]
    logs = {arm: math.log(probabilities[arm]) for arm in shown}
    factor = min(merit.log(box.high[arm]) - logs[arm] for arm in shown)
    ends = [(float(box.low[arm]), float(box.high[arm])) for arm in shown]
    means = [
        highest_mean(merit, *end, logs[arm] + factor) for arm, end in zip(shown, ends, strict=True)
    ]
    return float(np.dot(probabilities[shown], means))


def highest_mean(merit: Any, low: float, high: float, log_merit: float) -> float:
    """Return the highest mean of an interval whose merit is not above the given one."""
    if merit.log(high) <= log_merit + SAME:
        return high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if merit.log(middle) <= log_merit + SAME else (low, middle)
    return low


def best_value(logs: Floats, means: Floats) -> float:
    """Return the most that a row of means promises, given the logarithms of their merits."""
    some = logs.max(axis=1) > -math.inf  # rows without any merit promise nothing
    logs, means = logs[some], means[some]
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return float(((weights * means).sum(axis=1) / weights.sum(axis=1)).max())


def best_corner(merit: Any, box: Box) -> float:
    """Try all corners of the box."""
    arms = box.pulls.size
    up = (np.arange(2**arms)[:, None] >> np.arange(arms)) & 1 == 1
    low, high = (np.array([merit.log(mean) for mean in end]) for end in (box.low, box.high))
    return best_value(np.where(up, high, low), np.where(up, box.high, box.low))


def best_of_grid(merit: Any, box: Box) -> float:
    """Try all points of a dense grid."""
    lines = [np.linspace(low, high, GRID) for low, high in zip(box.low, box.high, strict=True)]
    logs = [np.array([merit.log(mean) for mean in line]) for line in lines]
    points, heights = (
        np.stack(np.meshgrid(*each, indexing="ij"), axis=-1).reshape(-1, len(lines))
        for each in (lines, logs)
    )
    return best_value(heights, points)


def print_captured(states: int, rng: np.random.Generator) -> None:
    """Print the share of the attainable optimism that ten gradient steps capture."""
    rows = []
    for steepness in (4, 10):
        for width in WIDTHS:
            merit = fairx.Exponential(steepness)
            cells = [
                spread([captured(merit, width, rounds, rng) for _ in range(states)])
                for rounds in (100, 10_000, 1_000_000)
            ]
            rows.append([str(steepness), str(width), *cells])
    title = (
        "Ten gradient steps: captured share of the attainable optimism in % (K=14, yeast means), "
        f"mean ± standard error (median) of {states} states"
    )
    headers = ("steepness", "width", "100 rounds", "10,000 rounds", "1,000,000 rounds")
    print_table(title, headers, rows)


def spread(shares: list[float]) -> str:
    """Return mean ± standard error (median), in per cent."""
    each = 100 * np.array(shares)
    error = each.std(ddof=1) / math.sqrt(each.size)
    return f"{each.mean():.1f} ± {error:.1f} ({np.median(each):.1f})"


def captured(merit: Any, width: float, rounds: int, rng: np.random.Generator) -> float:
    """Return the share on one box, as it is after so many rounds of fair play."""
    truth = yeast().means
    pulls = 1 + rng.multinomial(rounds, fairx.fair_probabilities(merit, truth)).astype(float)
    box = filled_box(merit, pulls, rng.binomial(pulls.astype(int), truth).astype(float), width)
    arms, work, out = np.arange(truth.size), np.empty(2 * truth.size), np.empty(truth.size)
    fairx.Gradient().deploy_optimum(merit, box, arms, work, out)
    climbed = work[: truth.size]  # the solver works on the means here; checked below
    np.testing.assert_allclose(fairx.fair_probabilities(merit, climbed), out, rtol=1e-9)
    start, reached = (
        best_value(merit.steepness * means[None], means[None])
        for means in (box.reward_sums / pulls, climbed)
    )
    best = promised(merit, box, solved(merit, box))
    return (reached - start) / (best - start)
