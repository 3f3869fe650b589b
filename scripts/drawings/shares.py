"""Pictures of shares: who is shown how much, and who should be."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import fairx
from fairx import datasets, environments, fair_probabilities, simulate
from fairx.slates import slate_propensities

from .svg import WIDTH, Frame, Scale, across, bar, below, picture, stroke, text

MERIT = fairx.Exponential(4)
LEFT = 52


def yeast_means() -> Any:
    """Return how often each of the 14 labels occurs."""
    return datasets.load("yeast").labels.mean(axis=0)


def shares_panel(top: float, exposure: Any, fair: Any, kind: str, title: str) -> str:
    """Return bars of what each arm got, and a mark where its fair share is."""
    frame = Frame(Scale(0, len(fair), LEFT, WIDTH - 8), Scale(0, 1, top + 110, top + 22))
    parts = [
        text(LEFT, top + 12, title, kind="strong"),
        across(frame, {0: "0", 0.5: "50 %", 1: "100 %"}),
    ]
    for arm, (got, due) in enumerate(zip(exposure, fair, strict=True)):
        x = frame.x(arm + 0.15)
        parts.append(
            bar(x, frame.y(got), frame.x(0.7) - frame.x(0), frame.y(0) - frame.y(got), kind)
        )
        parts.append(
            stroke(f"{frame.x(arm + 0.05):.1f} {frame.y(due):.1f}H{frame.x(arm + 0.95):.1f}", "ink")
        )
    return "\n".join(parts)


def figure1() -> str:
    """Draw exposure of 14 arms: one takes all, or each has its share."""
    means = yeast_means()
    world, settings = environments.Bernoulli(means), {"rounds": 50_000, "runs": 1, "seed": 1}
    usual = simulate(fairx.TS(1, 0.5), world, MERIT, **settings).exposure[0]
    fair = simulate(fairx.FairXTS(MERIT, 1, 0.5), world, MERIT, **settings).exposure[0]
    due = fair_probabilities(MERIT, means)
    frame = Frame(Scale(0, len(due), LEFT, WIDTH - 8), Scale(0, 1, 258, 170))
    return picture(
        "Exposure of 14 arms: Thompson sampling shows one, FairX-TS each in proportion to its merit",
        296,
        shares_panel(0, usual, due, "winner", "Thompson sampling: one arm takes all"),
        shares_panel(
            140, fair, due, "fair", "FairX-TS: each arm its share (line: what merit earns)"
        ),
        below(frame, {arm + 0.5: str(arm) for arm in range(len(due))}, "arm"),
    )


def merit() -> str:
    """Draw what three arms earn by six merits, as shares of one."""
    merits = [fairx.Exponential(1), fairx.Exponential(4), fairx.Exponential(10), fairx.Affine(1, 0)]
    merits += [fairx.Power(2, 0), fairx.Logistic(10, 0.4)]
    names = ["exp(m)", "exp(4 m)", "exp(10 m)", "m", "m²", "logistic"]
    parts = [text(76, 14, "shares of three arms with means 0.25, 0.5 and 0.75", kind="strong")]
    for number, (name, each) in enumerate(zip(names, merits, strict=True)):
        y, x = 28 + 30 * number, 76.0
        parts.append(text(68, y + 15, name, "end"))
        for share, kind in zip(
            fair_probabilities(each, [0.25, 0.5, 0.75]), ("grey", "blue", "fair"), strict=True
        ):
            width = share * (WIDTH - 86)
            parts.append(bar(x, y, width - 2, 22, kind))
            x += width
    return picture("Shares of exposure of three arms by six merit functions", 212, *parts)


def slates() -> str:
    """Draw the exposures of six arms on three places, by place, and what merit alone would give."""
    means, weights = [0.9, 0.6, 0.5, 0.4, 0.3, 0.1], np.array([1, 0.63, 0.5])
    exposures = fairx.fair_exposure(MERIT, means, weights)
    table = slate_propensities(exposures, weights) * weights
    due = weights.sum() * fair_probabilities(MERIT, means)
    frame = Frame(Scale(0, 1.4, 76, WIDTH - 12), Scale(0, 6, 28, 208))
    parts = [text(76, 14, "exposure by place: first, second, third", kind="strong")]
    for arm, mean in enumerate(means):
        y, x = frame.y(arm), 0.0
        parts.append(text(68, y + 15, f"mean {mean}", "end"))
        for part, kind in zip(table[arm], ("fair", "blue", "grey"), strict=True):
            parts.append(bar(frame.x(x), y, frame.x(part) - frame.x(0), 22, kind))
            x += part
        parts.append(stroke(f"{frame.x(due[arm]):.1f} {y - 3:.1f}V{y + 25:.1f}", "ink"))
    note = "line: in proportion to merit, more than the first place has"
    parts.append(text(76, 226, note))
    return picture("Exposures of six arms on three places, by place", 234, *parts)


def policies() -> str:
    """Draw the fairness regret per round of six policies."""
    world, settings = (
        environments.Bernoulli(yeast_means()),
        {"rounds": 50_000, "runs": 4, "seed": 1},
    )
    found = {
        "UCB": fairx.UCB(0.1),
        "TS": fairx.TS(1, 0.5),
        "EG": fairx.EG(0.05),
        "FairX-UCB": fairx.FairXUCB(MERIT, 0.1),
        "FairX-TS": fairx.FairXTS(MERIT, 1, 0.5),
        "FairX-EG": fairx.FairXEG(MERIT, 0.01),
    }
    parts = [text(90, 14, "fairness regret per round (at most 2)", kind="strong")]
    for number, (name, policy) in enumerate(found.items()):
        regret = simulate(policy, world, MERIT, **settings).summary().fairness_mean[-1] / 50_000
        y, width = 26 + 29 * number, regret / 2 * (WIDTH - 140)
        parts.append(text(82, y + 15, name, "end"))
        parts.append(bar(90, y, max(width, 1), 22, "fair" if "Fair" in name else "winner"))
        parts.append(text(96 + width, y + 15, f"{regret:.3f}"))
    return picture("Fairness regret per round of conventional and of fair policies", 204, *parts)


def data() -> str:
    """Draw how often each label of yeast occurs."""
    means = yeast_means()
    frame = Frame(Scale(0, len(means), LEFT, WIDTH - 8), Scale(0, 0.8, 160, 28))
    width = frame.x(0.7) - frame.x(0)
    return picture(
        "How often each of the 14 labels of yeast occurs",
        200,
        text(LEFT, 14, "yeast: share of the 2,417 examples with the label", kind="strong"),
        across(frame, {0: "0", 0.4: "40 %", 0.8: "80 %"}),
        *(
            bar(frame.x(a + 0.15), frame.y(m), width, frame.y(0) - frame.y(m), "blue")
            for a, m in enumerate(means)
        ),
        below(
            frame,
            {arm + 0.5: str(arm) for arm in range(len(means))},
            "label, the arm of the bandit",
        ),
    )


def at_work() -> str:
    """Draw shares over 3,000 decisions; an arm is added after a third of them."""
    means, rng = {"news": 0.6, "sport": 0.5, "arts": 0.3, "film": 0.7}, np.random.default_rng(1)
    bandit = fairx.Bandit(fairx.FairXTS(MERIT, 1, 0.5), arms=["news", "sport", "arts"], seed=7)
    shares = np.zeros((3000, 4))
    for number in range(3000):
        if number == 1000:
            bandit.add_arm("film")
        decision = bandit.act()
        shares[number, : len(decision.arms)] = decision.probabilities
        bandit.learn(decision, float(rng.random() < means[decision.arm]))
    smooth = shares.reshape(30, 100, 4).mean(axis=1)
    tops = np.column_stack([np.zeros(30), smooth.cumsum(axis=1)])
    frame, marks = (
        Frame(Scale(0, 3000, LEFT, WIDTH - 60), Scale(0, 1, 170, 28)),
        np.linspace(0, 3000, 30),
    )
    parts = [text(LEFT, 14, "shares of exposure; film joins after 1,000 decisions", kind="strong")]
    parts.append(across(frame, {0: "0", 0.5: "50 %", 1: "100 %"}))
    for (low, high), kind, name in zip(
        pairwise(tops.T), ("fair", "blue", "rose", "winner"), means, strict=True
    ):
        path = f"{frame.points(marks, high)}L{frame.points(marks[::-1], low[::-1])}Z"
        parts.append(f'<path class="{kind}" style="fill: var(--c)" d="M{path}"/>')
        parts.append(text(WIDTH - 54, frame.y((low[-1] + high[-1]) / 2) + 4, name))
    parts.append(below(frame, {0: "0", 1000: "1,000", 2000: "2,000", 3000: "3,000"}, "decisions"))
    return picture("Shares of exposure of a bandit at work, to which an arm is added", 214, *parts)
