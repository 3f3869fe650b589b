"""What an experiment leaves behind: for plots, tables and claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx.merit import Merit
from fairx.simulation import Result
from fairx.types import Vector

from .specification import Experiment


class Tried(NamedTuple):
    """One setting of a grid, and what it was tuned by, mean and deviation on the validation part."""

    settings: Mapping[str, Any]
    mean: float
    std: float


class Curve(NamedTuple):
    """One policy, with the settings that were chosen for it, on the test part."""

    label: str
    policy: Any
    settings: Mapping[str, Any]  # the chosen values of what was searched
    tried: tuple[Tried, ...]  # all of the grid, in its order
    results: tuple[Result, ...]  # one per horizon, the last one the longest
    notion: str = "merit"  # of fairness: what it is made for
    tuned_by: str = "merit"  # the notion that chose its settings

    @property
    def result(self) -> Result:
        """The result at the longest horizon."""
        return self.results[-1]


STARVED = 0.1  # of a fair share: an arm that is shown less than that


class Panel(NamedTuple):
    """All policies under one merit."""

    merit: Merit
    means: Vector  # true mean reward of each arm (averaged over examples, where there are contexts)
    fair: Vector  # the fair share of each arm (likewise)
    curves: tuple[Curve, ...]
    settles: float = 0.0  # the fairness regret a round that misspecification leaves in the end

    def starved(self, result: Result) -> Vector:
        """Return for each run the fair share of all arms that got less than a tenth of theirs."""
        shares = self.fair / self.fair.sum()  # on several places, fair exposures have another sum
        return np.asarray(((result.exposure < STARVED * self.fair) * shares).sum(axis=-1))


class Outcome(NamedTuple):
    """An experiment and its panels, one for each merit."""

    experiment: Experiment
    panels: tuple[Panel, ...]
