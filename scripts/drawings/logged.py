"""Pictures of logs: an audit, an evaluation, a replay, a problem made of data."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import fairx
from fairx import datasets
from fairx.auditing import audit as audited
from fairx.datasets.features import fourier_features, linear_fit, median_distance
from fairx.evaluation import Logged, evaluate
from fairx.replay import yahoo as today_module

from .regrets import Curve, regrets
from .svg import WIDTH, Frame, Scale, across, bar, below, dot, legend, picture, stroke, text


def audit() -> str:
    """Draw exposure of six arms in a log of Thompson sampling, beside the shares that merit earns."""
    means, rng = np.array([0.6, 0.55, 0.5, 0.4, 0.3, 0.2]), np.random.default_rng(3)
    names = ["ann", "bob", "cai", "dov", "eve", "fay"]
    bandit = fairx.Bandit(fairx.TS(1, 0.5), arms=names, seed=2)
    rows = []
    for _ in range(4000):
        decision = bandit.act()
        reward = float(rng.random() < means[names.index(decision.arm)])
        bandit.learn(decision, reward)
        rows.append((decision.arm, reward, list(decision.arms), decision.probabilities.tolist()))
    log = pd.DataFrame(rows, columns=["arm", "reward", "candidates", "probabilities"])
    lines = sorted(audited(log, fairx.Exponential(4)).lines, key=lambda each: each.arm)
    frame = Frame(Scale(0, 1, 60, WIDTH - 86), Scale(0, 1, 206, 28))
    parts = [text(60, 14, "exposure, and the share that merit earns", kind="strong")]
    for number, each in enumerate(lines):
        y = 40 + 27 * number
        parts.append(text(52, y + 5, each.arm, "end"))
        parts.append(stroke(f"60 {y:.1f}H{frame.x.end}", "grid"))
        parts.append(
            bar(
                frame.x(each.fair_low),
                y - 5,
                frame.x(each.fair_high) - frame.x(each.fair_low),
                10,
                "grey",
            )
        )
        parts.append(
            dot(frame.x(each.exposure), y, "winner" if each.verdict != "unclear" else "fair", 6)
        )
        parts.append(text(WIDTH - 78, y + 5, each.verdict))
    parts.append(
        below(
            frame,
            {0: "0", 0.5: "50 %", 1: "100 %"},
            "dots: what the log gave; bars: what is fair, with its interval",
        )
    )
    return picture("Exposure of six arms in a log beside their fair shares", 248, *parts)


def evaluation() -> str:
    """Draw what another policy would have brought, by four estimators, and the truth."""
    rng, shares, means = (
        np.random.default_rng(7),
        np.array([0.7, 0.2, 0.1]),
        np.array([0.3, 0.4, 0.2]),
    )
    arms = rng.choice(3, p=shares, size=4000)
    log = Logged(arms, rng.random(4000) < means[arms], propensities=shares[arms])
    fair = fairx.fair_probabilities(fairx.Exponential(4), means)
    truth = fair @ means
    frame = Frame(Scale(0.29, 0.37, 70, WIDTH - 20), Scale(0, 1, 150, 28))
    parts = [text(70, 14, "reward of the fair policy, from a log of another one", kind="strong")]
    parts.append(stroke(f"{frame.x(truth):.1f} 24V150", "ink"))
    for number, estimator in enumerate(("ips", "snips", "dm", "dr")):
        found, y = evaluate(log, fair, estimator=estimator), 42 + 29 * number
        parts.append(text(60, y + 5, estimator, "end"))
        parts.append(stroke(f"{frame.x(found.low):.1f} {y}H{frame.x(found.high):.1f}", "line blue"))
        parts.append(dot(frame.x(found.reward), y, "blue", 5))
    parts.append(
        below(
            frame,
            {mark: f"{mark:.2f}" for mark in (0.3, 0.32, 0.34, 0.36)},
            "reward per decision (upright: the truth)",
        )
    )
    return picture(
        "The reward of another policy by four estimators with intervals, and the truth", 190, *parts
    )


def yahoo() -> str:
    """Draw a replay of a made-up day of the Today Module."""
    with tempfile.TemporaryDirectory() as folder:
        today_module.make_yahoo(folder, days=1, events=40_000, seed=1)
        log = today_module.load([1], folder).log("mab")
    merit = fairx.Exponential(10)
    found = {
        "TS": Curve(fairx.replay(fairx.TS(0.1, 0.1), log, merit, seed=1, runs=4).result, "winner"),
        "FairX-TS": Curve(
            fairx.replay(fairx.FairXTS(merit, 0.1, 0.1), log, merit, seed=1, runs=4).result, "fair"
        ),
    }
    return regrets(
        "Fairness regret on a replayed log that was made up in the format of Yahoo!", found
    )


def others() -> str:
    """Draw what the sample of Personalizer's log gave three articles, beside what merit earns."""
    sample = Path(__file__).parents[2] / "docs" / "assets" / "personalizer.dsjson"
    lines = audited(sample, fairx.Exponential(2)).lines
    frame = Frame(Scale(0, 1, 110, WIDTH - 60), Scale(0, 1, 140, 28))
    parts = [text(110, 14, "a log of Personalizer, audited", kind="strong")]
    for number, each in enumerate(lines):
        y = 34 + 36 * number
        parts.append(text(102, y + 14, each.arm, "end"))
        for place, (share, kind) in enumerate(
            ((each.exposure, "winner"), (each.fair_share, "fair"))
        ):
            parts.append(
                bar(frame.x.start, y + 11 * place, frame.x(share) - frame.x.start, 9, kind)
            )
        parts.append(text(WIDTH - 50, y + 14, each.verdict))
    parts.append(below(frame, {0: "0", 0.5: "50 %", 1: "100 %"}))
    parts.append(legend({"exposure in the log": "winner", "what merit earns": "fair"}, 110, 184))
    return picture("Exposure of three articles in a log beside their fair shares", 196, *parts)


def problems() -> str:
    """Draw what the linear model makes of yeast: for each arm the spread of its means."""
    yeast = datasets.load("yeast")
    _, test = datasets.split(len(yeast.labels), share=0.2, seed=2021)
    bandwidth = median_distance(yeast.features, arms=14, seed=2021)
    contexts = fourier_features(yeast.features[test], arms=14, seed=2021, bandwidth=bandwidth)
    labels = yeast.labels[test]
    low, high = np.quantile(contexts @ linear_fit(contexts, labels), [0.05, 0.95], axis=0)
    frame = Frame(Scale(0, 14, 44, WIDTH - 8), Scale(0, 0.8, 170, 28))
    parts = [
        text(44, 14, "true means of the arms, by setting", kind="strong"),
        across(frame, {0: "0", 0.4: "0.4", 0.8: "0.8"}),
    ]
    for arm, mean in enumerate(labels.mean(axis=0)):
        top, bottom = frame.y(high[arm]), frame.y(max(low[arm], 0))
        parts.append(bar(frame.x(arm + 0.3), top, frame.x(0.4) - frame.x(0), bottom - top, "fair"))
        parts.append(dot(frame.x(arm + 0.5), frame.y(mean), "winner", 4))
    parts.append(below(frame, {arm + 0.5: str(arm) for arm in range(14)}, "arm (the label)"))
    parts.append(
        legend({"mab: one mean": "winner", "linear: nine in ten examples": "fair"}, 60, 44)
    )
    return picture(
        "True means of the arms of yeast without contexts and by the linear model", 214, *parts
    )
