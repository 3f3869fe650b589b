"""All policies of an experiment beside the one that it compares them with, run by run."""

from __future__ import annotations

from typing import NamedTuple

from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.pages import number
from fairx.plots.figure import merit_title
from fairx.simulation import compare
from fairx.simulation.comparing import Difference


class Compared(NamedTuple):
    """One policy less another, under one merit at one horizon."""

    merit: str
    policy: str
    rounds: int
    fairness: Difference
    reward: Difference
    starved: float  # mean of the runs
    starved_there: float  # of the policy that it is compared with


def comparisons(outcome: Outcome) -> list[Compared]:
    """Return the paired differences to the policy that the experiment names, if it names one."""
    label = outcome.experiment.compare
    return [
        _compared(panel, curve, other, horizon)
        for panel in outcome.panels
        for other in panel.curves
        if other.label == label
        for curve in panel.curves
        if curve is not other
        for horizon in range(len(curve.results))
    ]


def _compared(panel: Panel, curve: Curve, other: Curve, horizon: int) -> Compared:
    first, second = curve.results[horizon], other.results[horizon]
    found = compare(first=first, second=second).differences
    by_measure = {one.measure: one for one in found}
    return Compared(
        merit=merit_title(panel.merit),
        policy=curve.label,
        rounds=int(first.rounds[-1]),
        fairness=by_measure["fairness_regret"],
        reward=by_measure["reward_regret"],
        starved=float(panel.starved(first).mean()),
        starved_there=float(panel.starved(second).mean()),
    )


def interval(difference: Difference) -> str:
    """Return a difference with its interval in words; one run has none."""
    if difference.runs < 2:
        return number(difference.value)
    return f"{number(difference.value)} [{number(difference.low)} to {number(difference.high)}]"
