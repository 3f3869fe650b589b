"""An experiment as data: what is played, on what, for how long."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fairx import settings
from fairx.merit import Custom, Merit

from .names import imported, table
from .problem import Problem

FIGURES = ("regret", "exposure", "sweep", "frontier")


class Entrant(NamedTuple):
    """A policy with settings that are fixed, and a grid of those that are searched."""

    label: str
    kind: str  # one of ours, or module:Name
    fixed: Mapping[str, Any]
    grid: Mapping[str, tuple[Any, ...]]
    family: str = ""  # what entrants of one sweep have for a label
    notion: str = "merit"  # of fairness: what it is made for, and shown under first
    tuned_by: str = "merit"  # the notion that chooses its settings

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the points of the grid, the last setting changing fastest."""
        for values in itertools.product(*self.grid.values()):
            yield dict(zip(self.grid, values, strict=True))

    def described(self, point: Mapping[str, Any], merit: Merit) -> dict[str, Any]:
        """Return the policy at a point of the grid as a mapping that `built` understands."""
        chosen = {"kind": self.kind, **self.fixed}
        for name, value in point.items():
            chosen = with_setting(chosen, name, value)
        if "merit" not in chosen and takes_merit(self.kind):
            chosen["merit"] = described(merit)
        return chosen


class Experiment(NamedTuple):
    """Everything that decides the rows, and how to show them."""

    name: str  # "fig2"
    title: str
    figure: str  # "regret", "exposure" or "sweep"
    problem: Problem
    merits: tuple[Merit, ...]
    policies: tuple[Entrant, ...]
    rounds: tuple[int, ...]  # horizons of the test, increasing: what was tuned is shown at each
    tuning_rounds: int  # the horizon that settings are chosen for
    runs: int
    validation_runs: int
    seed: int
    scale: str
    chapter: str = ""  # the heading that the report shows it under
    text: str = ""  # what the report says of it
    notions: tuple[str, ...] = ()  # of fairness, a table for each
    compare: str = ""  # the label of the policy that all others are compared with, run by run

    def identity(self) -> dict[str, Any]:
        """Return what makes it another experiment: merits, policies and runs may be added."""
        horizons = {"rounds": list(self.rounds), "tuning_rounds": self.tuning_rounds}
        return {**self.problem.described(), **horizons, "seed": self.seed}


def with_setting(content: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    """Return a policy with a setting; dots lead to policies within.

    Examples
    --------
    >>> with_setting({"kind": "Floor", "policy": {"kind": "UCB"}}, "policy.width", 0.1)
    {'kind': 'Floor', 'policy': {'kind': 'UCB', 'width': 0.1}}
    """
    outer, dot, inner = name.partition(".")
    if not dot:
        return {**content, name: value}
    within = table(f"{outer}, to which {name} leads,", content.get(outer))
    return {**content, outer: with_setting(within, inner, value)}


def is_set(content: Any, name: str) -> bool:
    """Tell whether a policy has a setting already; dots lead to policies within."""
    outer, dot, inner = name.partition(".")
    if not isinstance(content, Mapping) or outer not in content:
        return False
    return not dot or is_set(content[outer], inner)


def takes_merit(kind: str) -> bool:
    """Tell whether a policy has a setting `merit`."""
    return "merit" in inspect.signature(imported(kind)).parameters


def described(value: Any) -> Any:
    """Return a record as a mapping that `built` understands: by its module if it is not ours.

    Examples
    --------
    >>> from fairx import Exponential
    >>> described(Exponential(4))
    {'kind': 'Exponential', 'steepness': 4.0}
    """
    if isinstance(value, Custom):
        return {"kind": _address(value.function)}
    if not hasattr(value, "_fields"):
        return settings.describe(value)
    kind = type(value)
    ours = settings.KINDS.get(kind.__name__) is kind
    fields = {name: described(part) for name, part in value._asdict().items()}
    return {"kind": kind.__name__ if ours else _address(kind), **fields}


def _address(found: Any) -> str:
    return f"{found.__module__}:{found.__qualname__}"


def built(content: Mapping[str, Any]) -> Any:
    """Return the policy or merit that a mapping describes, ours or anybody's.

    Examples
    --------
    >>> built({"kind": "FairXEG", "epsilon": 0.1, "merit": {"kind": "Exponential", "steepness": 4}})
    FairXEG(merit=Exponential(steepness=4.0), epsilon=0.1)
    """
    kinds = dict(settings.KINDS)
    for part in (content, *(v for v in content.values() if isinstance(v, Mapping))):
        kinds[str(part.get("kind"))] = imported(str(part.get("kind")))
    return settings.build(content, kinds)
