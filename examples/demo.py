"""Play the paper's yeast problem (label frequencies, c = 4) and write an HTML report.

Each policy plays 200,000 rounds three times; the report shows who got how much exposure, and
both regrets.
"""

from __future__ import annotations

import html
import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from fairx import (
    TS,
    UCB,
    Exponential,
    FairXEG,
    FairXTS,
    FairXUCB,
    Result,
    environments,
    fair_probabilities,
    simulate,
)

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

# Positive examples of each of the 14 classes among the 2,417 of yeast (Elisseeff and Weston 2001).
LABELS = [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
MEANS = np.array(LABELS) / 2417
MERIT = Exponential(4)
POLICIES: dict[str, Any] = {
    "FairX-UCB": FairXUCB(MERIT, width=0.05),
    "FairX-TS": FairXTS(MERIT, prior_std=1, reward_std=0.3),
    "FairX-EG": FairXEG(MERIT, epsilon=0.001),
    "UCB": UCB(width=0.05),
    "TS": TS(prior_std=1, reward_std=0.3),
}
REPORT = Path("report")


def main() -> None:
    """Play, draw, write, and say where the report is."""
    world = environments.Bernoulli(MEANS)
    results = {}
    for name, policy in POLICIES.items():
        results[name] = simulate(policy, world, MERIT, rounds=200_000, runs=3, seed=1)
        regret = results[name].summary().fairness_mean[-1]
        print(f"{name:10} fairness regret {regret:10,.0f} after 200,000 rounds")
    REPORT.mkdir(exist_ok=True)
    page = REPORT / "index.html"
    page.write_text(report(results), encoding="utf-8")
    print(f"The report is at {page.resolve()}")


def report(results: dict[str, Result]) -> str:
    """Return one page with nothing to fetch."""
    rows = "".join(
        f"<tr><td>{html.escape(name)}<td>{s.fairness_mean[-1]:,.0f} ± {s.fairness_std[-1]:,.0f}"
        f"<td>{s.reward_mean[-1]:,.0f} ± {s.reward_std[-1]:,.0f}"
        f"<td>{s.exposure_mean.max():.3f}"
        for name, s in ((name, result.summary()) for name, result in results.items())
    )
    return (
        "<!doctype html><meta charset=utf-8><title>fairx: yeast</title>"
        "<style>body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "td,th{padding:.2rem 1rem;text-align:right}td:first-child{text-align:left}</style>"
        "<h1>Fourteen arms, exposure in proportion to merit</h1>"
        "<p>The label frequencies of yeast as a bandit problem, merit exp(4 mean), "
        "200,000 rounds, mean and standard deviation of three runs.</p>"
        "<table><tr><th>policy<th>fairness regret<th>reward regret<th>largest exposure"
        f"{rows}</table>{exposure_figure(results)}{regret_figure(results)}"
    )


def exposure_figure(results: dict[str, Result]) -> str:
    """Draw the exposure of each arm under each policy beside the fair one."""
    figure, axis = plt.subplots(figsize=(10, 4), layout="constrained")
    bars = {"fair": fair_probabilities(MERIT, MEANS)}
    bars |= {name: result.summary().exposure_mean for name, result in results.items()}
    width = 0.8 / len(bars)
    for i, (name, shares) in enumerate(bars.items()):
        axis.bar(np.arange(14) + 1 + (i - 2.5) * width, shares, width, label=name)
    axis.set(xlabel="arm", ylabel="average exposure", xticks=range(1, 15))
    axis.legend()
    return as_svg(figure)


def regret_figure(results: dict[str, Result]) -> str:
    """Draw both regrets of the fair policies over time."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for name, result in results.items():
        if name.startswith("FairX"):
            result.plot(name, axes)
    axes[0].legend()
    return as_svg(figure)


def as_svg(figure: Figure) -> str:
    """Return a figure as a piece of HTML."""
    text = io.StringIO()
    figure.savefig(text, format="svg")
    plt.close(figure)
    return text.getvalue().partition("<svg")[1] + text.getvalue().partition("<svg")[2]


if __name__ == "__main__":
    main()
