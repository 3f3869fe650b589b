"""Measures of a user's own: a number for each round, summed up as the regrets are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from fairx import rules
from fairx.compiled import compilable, meet, turns
from fairx.types import Indices, Vector

from .notions import NOTIONS, Notions
from .provenance import Provenance
from .tally import CURVES, Tally

# What is by run, or a column of tables.
TAKEN = (*CURVES, "exposure", "pulls", "exposure_curves", "placements", "proved", "run", "round", "horizon",
         *Provenance._fields)  # fmt: skip


class Round(NamedTuple):
    """What a measure is told of a round: for each arm on offer, in copies of its own."""

    arms: Indices
    deployed: Vector  # the probabilities that the policy played; with places, exposures
    fair: Vector  # those that the judge finds fair
    means: Vector  # the true mean rewards
    position: int  # among those on offer, of the arm that was played; with places, on the first one
    reward: float  # with places, the sum of what was seen


@compilable
class Measuring(Protocol):
    """What the loop tells of each round."""

    def note_round(
        self, tally: Tally, number: int, arms: Indices, deployed: Vector, fair: Vector,
        means: Vector, position: int, reward: float,
    ) -> None:  # fmt: skip
        """Let this measure, the `number`th, and those after it take a round in."""
        ...


class NoMeasure(NamedTuple):
    """The end of a list of measures."""

    empty: bool = True  # Numba wants a field

    def note_round(
        self, tally: Tally, number: int, arms: Indices, deployed: Vector, fair: Vector,
        means: Vector, position: int, reward: float,
    ) -> None:  # fmt: skip
        """Do nothing."""


class Measure(NamedTuple):
    """A measure and those after it: a list that compiled code can walk, function by function."""

    name: str
    function: Callable[[Round], float]
    others: Any  # Measure or NoMeasure

    def note_round(
        self, tally: Tally, number: int, arms: Indices, deployed: Vector, fair: Vector,
        means: Vector, position: int, reward: float,
    ) -> None:  # fmt: skip
        """Show the function a copy of the round, which it may write on, and add what it says."""
        n = len(arms)
        for _ in turns(1):  # of lanes that share a run, one: they share the copy too
            for i in range(n):
                tally.candidates[i] = arms[i]
                tally.seen[0, i], tally.seen[1, i] = deployed[i], fair[i]
                tally.seen[2, i] = means[i]
            seen = Round(
                tally.candidates[:n], tally.seen[0, :n], tally.seen[1, :n], tally.seen[2, :n],
                position, reward,
            )  # fmt: skip
            tally.measured[number] += self.function(seen)
        meet()  # the others go on to the next round, and write on what this one is read from
        self.others.note_round(tally, number + 1, arms, deployed, fair, means, position, reward)


def measures_of(functions: Any) -> Any:
    """Return the list of measures that the loop walks.

    Examples
    --------
    >>> measures_of({"regret": 3})
    Traceback (most recent call last):
    InvalidValue: measures['regret'] must be a function of a fairx.Round, not 3
    """
    if functions is NOTIONS:
        return Notions()
    if not isinstance(functions, Mapping):
        raise rules.InvalidValue("measures", f"be functions by their names, not {functions!r}")
    found: Any = NoMeasure()
    for name, function in reversed(list(functions.items())):
        if not isinstance(name, str) or name in TAKEN:
            rule = f"have names of their own, not {name!r}: results have {', '.join(TAKEN)}"
            raise rules.InvalidValue("measures", rule)
        if not callable(function):
            rule = f"be a function of a fairx.Round, not {function!r}"
            raise rules.InvalidValue(f"measures[{name!r}]", rule)
        found = Measure(name, function, found)
    return found


def on_trial(measures: Any) -> Any:
    """Return measures whose functions are interpreted, and refused if they do not say a number."""
    if not hasattr(measures, "function"):
        return measures
    return Measure(measures.name, _checked(*measures[:2]), on_trial(measures.others))


def _checked(name: str, function: Callable[[Round], float]) -> Callable[[Round], float]:
    function = getattr(function, "py_func", function)

    def say(seen: Round) -> float:
        value = function(seen)
        if isinstance(value, (bool, int, float, np.number, np.bool_)):
            return float(value)
        raise rules.InvalidValue(f"measures[{name!r}]", f"return one number, not {value!r}")

    return say
