"""What each policy gives up for the fairness that it is made for, in words that follow from the runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairx.experiments.notions import NOTIONS, unfairness
from fairx.experiments.outcome import Curve, Outcome, Panel
from fairx.plots.figure import merit_title
from fairx.simulation.bands import Interval, mean_interval

from .notions import ends, notion_tables
from .tables import at_edge, setting_words


class Price(NamedTuple):
    """One policy under one merit: how fair it is by its own notion, and what that costs."""

    merit: str
    policy: str
    notion: str  # that it is made for
    tuned_by: str
    settings: str
    edges: str  # settings that were chosen at an end of their grid
    place: int  # among all policies by its own notion, 1 the fairest
    policies: int
    unfair: Interval
    given_up: Interval  # regret to the best arm, a round
    better: list[str]  # those that are surely fairer by that notion, and surely earn more


def prices(outcome: Outcome) -> list[Price]:
    """Return what each policy of an experiment with notions gives up; nothing where it has none."""
    if not outcome.experiment.notions:
        return []
    return [_price(panel, curve) for panel in outcome.panels for curve in panel.curves]


def _price(panel: Panel, curve: Curve) -> Price:
    unfair = {one.label: unfairness(curve.notion, one.result) for one in panel.curves}
    given_up = {one.label: unfairness("reward", one.result) for one in panel.curves}
    mine, paid = unfair[curve.label], given_up[curve.label]
    return Price(
        merit=merit_title(panel.merit),
        policy=curve.label,
        notion=curve.notion,
        tuned_by=curve.tuned_by,
        settings=setting_words(curve.settings),
        edges=", ".join(at_edge(curve)),
        place=1 + sum(float(other.mean()) < float(mine.mean()) for other in unfair.values()),
        policies=len(unfair),
        unfair=mean_interval(mine),
        given_up=mean_interval(paid),
        better=[
            label
            for label in unfair
            if _surely_less(unfair[label], mine) and _surely_less(given_up[label], paid)
        ],
    )


def _surely_less(some: Any, others: Any) -> bool:
    """Tell whether the 95 % interval of the differences, run by run, is below 0."""
    return bool(mean_interval(np.asarray(some) - np.asarray(others)).high < 0.0)


def words(price: Price) -> str:
    """Return one sentence.

    Examples
    --------
    >>> whole = Interval(0.5, 0.4, 0.6)
    >>> price = Price("exp(4mu)", "Mine", "Nash", "Nash", "", "", 2, 9, whole, whole, ["UCB"])
    >>> words(price)
    'is made for Nash, and no. 2 of 9 by it, 0.5000 [0.4000 to 0.6000]; it gives up 0.5000 [0.4000 to 0.6000]
    of reward a round; better in both: UCB'
    """
    own = f"no. {price.place} of {price.policies}"
    if price.notion == "reward":
        return f"is {own} by reward: it gives up {ends(price.unfair)} a round"
    others = "; ".join(price.better)  # labels may have commas
    better = f"better in both: {others}" if others else "nobody is surely better in both"
    made = f"is made for {price.notion}, and {own} by it, {ends(price.unfair)}"
    return f"{made}; it gives up {ends(price.given_up)} of reward a round; {better}"


def write_notions(outcomes: Mapping[str, Outcome], path: Path) -> None:
    """Write tables and prices of all experiments that have notions as JSON."""
    found = {
        name: {
            "title": outcome.experiment.title,
            "text": outcome.experiment.text,
            "rounds": outcome.experiment.rounds[-1],
            "runs": outcome.experiment.runs,
            "notions": {notion: NOTIONS[notion].words for notion in outcome.experiment.notions},
            "tables": _tables(outcome),
            "prices": [price._asdict() | {"words": words(price)} for price in prices(outcome)],
        }
        for name, outcome in outcomes.items()
        if outcome.experiment.notions
    }
    if found:
        path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def _tables(outcome: Outcome) -> list[dict[str, Any]]:
    tables = zip(
        notion_tables(outcome), outcome.experiment.notions * len(outcome.panels), strict=True
    )
    return [
        {"notion": notion, "merit": table.merit, "lines": [line._asdict() for line in table.lines]}
        for table, notion in tables
    ]
