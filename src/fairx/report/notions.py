"""A table for each notion of fairness: those that are made for it first, and what each gives up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.experiments.notions import NOTIONS, frontier, unfairness
from fairx.experiments.outcome import Outcome, Panel
from fairx.plots.figure import merit_title
from fairx.simulation.bands import Interval, mean_interval


class Line(NamedTuple):
    """One policy: mean over runs, a round, with its 95 % interval."""

    policy: str
    own: bool  # made for this notion
    unfair: Interval
    given_up: Interval  # regret to the best arm
    unbeaten: bool  # no other has a lower mean of one and not a higher of the other


class Table(NamedTuple):
    """One notion under one merit."""

    merit: str
    title: str
    words: str
    lines: list[Line]


def notion_tables(outcome: Outcome) -> list[Table]:
    """Return a table for each merit and notion that the experiment names."""
    return [
        Table(merit_title(panel.merit), NOTIONS[notion].title, NOTIONS[notion].words, _lines(panel, notion))
        for panel in outcome.panels
        for notion in outcome.experiment.notions
    ]  # fmt: skip


def _lines(panel: Panel, notion: str) -> list[Line]:
    unfair = [unfairness(notion, curve.result) for curve in panel.curves]
    given_up = [unfairness("reward", curve.result) for curve in panel.curves]
    means = np.array([[each.mean() for each in unfair], [each.mean() for each in given_up]])
    best = set(frontier(*means))
    lines = [
        Line(
            curve.label, curve.notion == notion, mean_interval(unfair[i]),
            mean_interval(given_up[i]), i in best,
        )
        for i, curve in enumerate(panel.curves)
    ]  # fmt: skip
    return sorted(lines, key=lambda line: (not line.own, line.unfair.value))


def ends(found: Interval) -> str:
    """Return a mean with its interval in words; one run has none.

    Examples
    --------
    >>> ends(Interval(0.5, 0.4, 0.6))
    '0.5000 [0.4000 to 0.6000]'
    """
    if not np.isfinite([found.low, found.high]).all():
        return f"{found.value:.4f}"
    return f"{found.value:.4f} [{found.low:.4f} to {found.high:.4f}]"
