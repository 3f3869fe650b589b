"""What a claim of the paper is, and where its evidence is found."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.plots.figure import merit_title
from fairx.simulation.bands import Interval
from fairx.types import Vector

Measure = Callable[[Panel, str], Vector]
HOLDS, FAILS, NOT_RUN = "holds", "does not hold", "not run"


class Claim(NamedTuple):
    """A sentence of the paper and what our runs say to it."""

    sentence: str
    where: str
    statistic: str  # in words, with the rule that decides
    value: float | str
    low: float  # ends of the 95 per cent interval, nan where there is none
    high: float
    verdict: str  # "holds", "does not hold" or "not run"
    reason: str  # why it does not hold, or was not run


class Finding(NamedTuple):
    """What was measured, and whether it keeps the rule."""

    holds: bool
    value: float | str
    low: float = math.nan
    high: float = math.nan
    reason: str = ""  # the likeliest, should it not hold


class Statement(NamedTuple):
    """A claim before the runs: `judge` takes the outcomes that it `needs`."""

    sentence: str
    where: str
    statistic: str
    needs: tuple[str, ...]
    judge: Callable[..., Finding]


class Roles(NamedTuple):
    """The labels of the paper's policies in one setting; our own solver stands beside them."""

    conventional: tuple[str, ...]
    ucb: str
    ts: str
    eg: str
    ours: str

    @property
    def fair(self) -> tuple[str, str, str]:
        """The paper's three."""
        return self.ucb, self.ts, self.eg


MAB = Roles(("UCB", "TS"), "FairX-UCB (gradient)", "FairX-TS", "FairX-EG", "FairX-UCB (exact)")
LINEAR = Roles(
    ("LinUCB", "LinTS"),
    "FairX-LinUCB (gradient)",
    "FairX-LinTS",
    "FairX-LinEG",
    "FairX-LinUCB (ascent)",
)


class Missing(LookupError):
    """The runs lack what a claim is about."""


def judged(found: Interval, holds: bool, reason: str, value: str = "") -> Finding:
    """Return the finding of an interval, its value in words of its own if there are any."""
    if math.isinf(found.high):
        reason = "a single run has no interval: at least two are needed"
    return Finding(holds, value or found.value, found.low, found.high, reason)


def roles(outcome: Outcome) -> Roles:
    """Return who is who in the setting of an outcome."""
    return MAB if outcome.experiment.problem.setting == "mab" else LINEAR


def only(outcome: Outcome) -> Panel:
    """Return the first panel, which in the paper's figures without a range of merits is all."""
    if not outcome.panels:
        raise Missing(f"{outcome.experiment.name} has no panel yet")
    return outcome.panels[0]


def find(panel: Panel, label: str) -> Curve:
    """Return the curve with this label."""
    for curve in panel.curves:
        if curve.label == label:
            return curve
    raise Missing(f"{label} was not played for {merit_title(panel.merit)}")


def fairness(panel: Panel, label: str) -> Vector:
    """Return the fairness regret of each run at the end."""
    return find(panel, label).result.fairness_regret[:, -1]


def reward(panel: Panel, label: str) -> Vector:
    """Return the reward regret of each run at the end."""
    return find(panel, label).result.reward_regret[:, -1]


def lowest(panel: Panel, labels: tuple[str, ...], measure: Measure) -> str:
    """Return the label with the lowest mean."""
    return min(labels, key=lambda label: measure(panel, label).mean())


def highest(panel: Panel, labels: tuple[str, ...], measure: Measure) -> str:
    """Return the label with the highest mean."""
    return max(labels, key=lambda label: measure(panel, label).mean())


def chosen(panel: Panel, label: str) -> str:
    """Return a label with the settings that were chosen for it."""
    settings = find(panel, label).settings.items()
    words = ", ".join(f"{name} {value}" for name, value in settings)
    return f"{label} ({words})" if words else label
