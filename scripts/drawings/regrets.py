"""Pictures of regrets: by rounds, by width, beside their bound."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import fairx
from fairx import environments, simulate, theory

from .shares import MERIT, yeast_means
from .svg import WIDTH, Frame, Scale, across, band, below, dot, legend, line, picture, text

THREE = environments.Bernoulli([0.2, 0.5, 0.8])


class Curve(NamedTuple):
    """A result and how it is drawn."""

    result: Any
    kind: str


def regrets(title: str, curves: dict[str, Curve], height: float = 230) -> str:
    """Return fairness regret by rounds: mean and standard deviation over the runs."""
    rounds = next(iter(curves.values())).result.rounds
    pick = np.linspace(0, len(rounds) - 1, 40).astype(int)
    drawn = {name: each.result.summary() for name, each in curves.items()}
    top = max((each.fairness_mean + each.fairness_std).max() for each in drawn.values())
    frame = Frame(Scale(0, rounds[-1], 60, WIDTH - 16), Scale(0, top, height - 44, 28))
    parts = [text(60, 14, "fairness regret", kind="strong"), across(frame, _round_ticks(top))]
    for name, found in drawn.items():
        mean, std, kind = found.fairness_mean[pick], found.fairness_std[pick], curves[name].kind
        parts.append(band(frame, rounds[pick], mean - std, mean + std, kind))
        parts.append(line(frame, rounds[pick], mean, kind))
    parts.append(
        below(
            frame,
            {mark: f"{mark:,.0f}" for mark in (0, rounds[-1] / 2, rounds[-1])},
            "rounds",
        )
    )
    parts.append(legend({name: each.kind for name, each in curves.items()}, 74, 44))
    return picture(title, height, *parts)


def _round_ticks(top: float) -> dict[float, str]:
    """Return three or four round numbers up to the top."""
    step = 10 ** np.floor(np.log10(top / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if top / (step * factor) < 4.5)
    return {float(mark): f"{mark:,.0f}" for mark in np.arange(0, top, step)}


def tutorial() -> str:
    """Draw the fairness regret of Thompson sampling and of its fair version."""
    world, settings = environments.Bernoulli(yeast_means()), {"rounds": 2000, "runs": 8, "seed": 1}
    usual = simulate(fairx.TS(1, 0.5), world, MERIT, **settings)
    fair = simulate(fairx.FairXTS(MERIT, 1, 0.5), world, MERIT, **settings)
    title = "Fairness regret: that of Thompson sampling grows for ever, that of FairX-TS slows down"
    return regrets(
        title, {"Thompson sampling": Curve(usual, "winner"), "FairX-TS": Curve(fair, "fair")}
    )


class Boltzmann(NamedTuple):
    """The policy of the tutorial: a softmax of the estimated means."""

    temperature: float

    def start(self, arms: int, dimension: int) -> Any:  # noqa: D102
        return np.zeros((2, arms))

    def probabilities(self, state: Any, arms: Any, contexts: Any, rng: Any) -> Any:  # noqa: D102
        weights = np.exp(state[1][arms] / np.maximum(state[0][arms], 1.0) / self.temperature)
        return weights / weights.sum()

    def learn(self, state: Any, arm: int, context: Any, reward: float) -> None:  # noqa: D102
        state[0, arm] += 1.0
        state[1, arm] += reward


def extending() -> str:
    """Draw a policy of one's own among ours."""
    settings = {"rounds": 1000, "runs": 16, "seed": 1}
    curves = {
        f"yours, temperature {temperature}": Curve(
            simulate(Boltzmann(temperature), THREE, MERIT, **settings), kind
        )
        for temperature, kind in ((0.1, "winner"), (0.25, "blue"))
    }
    ours = simulate(fairx.FairXTS(MERIT, 1, 0.5), THREE, MERIT, **settings)
    return regrets(
        "A policy of your own beside FairX-TS", curves | {"FairX-TS": Curve(ours, "fair")}
    )


def reproducibility() -> str:
    """Draw four runs on one thread, and the same ones on two."""
    policy, settings = fairx.FairXTS(MERIT, 1, 0.5), {"rounds": 1000, "runs": 4, "seed": 3}
    one, two = (simulate(policy, THREE, MERIT, jobs=jobs, **settings) for jobs in (1, 2))
    frame = Frame(Scale(0, 1000, 44, WIDTH - 16), Scale(0, one.fairness_regret.max(), 170, 28))
    parts = [text(44, 14, "four runs: lines on one thread, dots on two", kind="strong")]
    parts.append(across(frame, _round_ticks(one.fairness_regret.max())))
    for run, kind in enumerate(("fair", "blue", "rose", "winner")):
        parts.append(line(frame, one.rounds[::5], one.fairness_regret[run, ::5], kind))
        for mark in range(9, 200, 20):
            x, y = frame.x(two.rounds[mark]), frame.y(two.fairness_regret[run, mark])
            parts.append(dot(x, y, kind))
    parts.append(below(frame, {0: "0", 500: "500", 1000: "1,000"}, "rounds"))
    return picture("Runs on one thread and on two have the same regrets, to the bit", 214, *parts)


def optimism() -> str:
    """Draw the exact step and ten gradient steps, by the width of the box."""
    world, widths = environments.Bernoulli(yeast_means()), (0.01, 0.03, 0.1, 0.3, 1, 3, 6.56)
    frame = Frame(Scale(0.01, 6.56, 60, WIDTH - 20, True), Scale(0, 2, 186, 28))
    parts = [
        text(60, 14, "fairness regret per round, by width", kind="strong"),
        across(frame, {0: "0", 1: "1", 2: "2"}),
    ]
    for solver, kind in (("exact", "fair"), ("gradient", "winner")):
        policies = [fairx.FairXUCB(MERIT, width, solver) for width in widths]
        found = [simulate(each, world, MERIT, rounds=20_000, runs=4, seed=1) for each in policies]
        parts.append(
            line(frame, widths, [each.summary().fairness_mean[-1] / 20_000 for each in found], kind)
        )
    parts.append(
        below(
            frame, {0.01: "0.01", 0.1: "0.1", 1: "1", 6.56: "6.56"}, "width of the confidence box"
        )
    )
    parts.append(
        legend({"solved exactly": "fair", "the paper's ten gradient steps": "winner"}, 74, 46)
    )
    return picture(
        "Fairness regret of FairX-UCB with the exact step and with ten gradient steps", 230, *parts
    )


def bound() -> str:
    """Draw a regret and its bound, by horizon."""
    shape = fairx.PiecewiseLinear(knots=(0, 1), values=(1, 2))
    lipschitz, least = shape.lipschitz(-9, 9), shape.minimum(-9, 9)
    horizons = (100, 300, 1000, 3000, 10_000, 30_000)
    bounds = [
        theory.ucb_fairness_bound(rounds, 3, lipschitz, least, delta=0.05) for rounds in horizons
    ]
    found = []
    for rounds in horizons:
        policy = fairx.FairXUCB.for_horizon(shape, rounds=rounds, arms=3, delta=0.05)
        found.append(
            simulate(policy, THREE, shape, rounds=rounds, runs=4, seed=1)
            .summary()
            .fairness_mean[-1]
        )
    frame = Frame(Scale(100, 30_000, 64, WIDTH - 20, True), Scale(1, 100_000, 186, 28, True))
    return picture(
        "Fairness regret of FairX-UCB and the bound of its theorem, by the number of rounds",
        230,
        text(64, 14, "fairness regret, and its bound", kind="strong"),
        across(frame, {10.0**power: f"{10**power:,}" for power in (0, 1, 2, 3, 4, 5)}),
        line(frame, horizons, bounds, "grey dashed"),
        line(frame, horizons, found, "fair"),
        below(frame, {100: "100", 1000: "1,000", 10_000: "10,000"}, "rounds"),
        legend({"bound of Theorem 3.2.1": "grey dashed", "FairX-UCB": "fair"}, 256, 150),
    )
