"""Final regrets and chosen settings, as rows."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.plots.figure import merit_title
from fairx.simulation import Result


class Row(NamedTuple):
    """One policy under one merit at one horizon."""

    experiment: str
    merit: str
    policy: str
    rounds: int
    runs: int
    fairness_mean: float
    fairness_std: float
    reward_mean: float
    reward_std: float
    settings: str
    at_edge: str  # settings whose chosen value is the first or last of its grid


def rows(outcome: Outcome) -> list[Row]:
    """Return the final regrets of an outcome, mean and standard deviation over the runs."""
    return [
        _row(outcome, panel, curve, result)
        for panel in outcome.panels
        for curve in panel.curves
        for result in curve.results
    ]


def _row(outcome: Outcome, panel: Panel, curve: Curve, result: Result) -> Row:
    found = result.summary()
    return Row(
        experiment=outcome.experiment.name,
        merit=merit_title(panel.merit),
        policy=curve.label,
        rounds=int(result.rounds[-1]),
        runs=len(result.exposure),
        fairness_mean=float(found.fairness_mean[-1]),
        fairness_std=float(found.fairness_std[-1]),
        reward_mean=float(found.reward_mean[-1]),
        reward_std=float(found.reward_std[-1]),
        settings=setting_words(curve.settings),
        at_edge=", ".join(at_edge(curve)),
    )


def write_tables(outcomes: Mapping[str, Outcome], path: Path) -> None:
    """Write the rows of all outcomes as comma-separated values."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Row._fields)
        for outcome in outcomes.values():
            table.writerows(rows(outcome))


def at_edge(curve: Curve) -> list[str]:
    """Return the settings that were chosen at an end of their grid: the best may lie beyond.

    Examples
    --------
    >>> from fairx.experiments.outcome import Tried
    >>> tried = tuple(Tried({"width": width}, 0.0, 0.0) for width in (0.01, 0.1, 1.0))
    >>> at_edge(Curve("mine", None, {"width": 1.0}, tried, ()))
    ['width']
    """
    return [name for name, value in curve.settings.items() if _is_end(curve, name, value)]


def _is_end(curve: Curve, name: str, value: Any) -> bool:
    values = list(dict.fromkeys(str(one.settings[name]) for one in curve.tried))
    return len(values) > 1 and str(value) in (values[0], values[-1])


def setting_words(settings: Mapping[str, Any]) -> str:
    """Return settings as one line of text."""
    return ", ".join(f"{name} {value}" for name, value in settings.items())
