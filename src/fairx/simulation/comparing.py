"""Policies compared run by run: those that share a seed share their world, and its luck."""

from __future__ import annotations

import functools
import itertools
from typing import Any, NamedTuple

import numpy as np

from fairx import rules, texts
from fairx.types import Indices

from .bands import ALPHA, mean_interval
from .result import Result

SHARED = ("environment", "judge", "seed", "rounds", "weights", "feedback", "examination")
LEFT_OUT = "best_arm_regret"  # differs from the reward regret by what all policies share


class Difference(NamedTuple):
    """How much more `first` has of a measure than `second`, after the last round."""

    measure: str
    first: str
    second: str
    value: float
    low: float
    high: float
    runs: int

    @property
    def verdict(self) -> str:
        """Whether the first is lower or higher, or that these runs do not tell."""
        if self.high < 0:
            return "lower"
        return "higher" if self.low > 0 else "undecided"

    def __repr__(self) -> str:
        ends = f"{self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"
        return f"{self.measure}, {self.first} - {self.second}: {ends}, {self.verdict}"


class Comparison(NamedTuple):
    """The paired differences of all pairs of results, and what a reader should know of them."""

    differences: tuple[Difference, ...]
    notes: tuple[str, ...]

    def to_frame(self) -> Any:
        """Return a pandas table: one row per pair and measure."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'fairx[experiments]'") from error
        return pd.DataFrame([one._asdict() | {"verdict": one.verdict} for one in self.differences])

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self.differences), *self.notes])


def _comparison_page(comparison: Comparison) -> str:
    """Return what a notebook shows."""
    lines = [repr(one).partition(": ") for one in comparison.differences]
    rows = [(what, found) for what, _, found in lines]
    return texts.table("paired differences", [*rows, *(("note", one) for one in comparison.notes)])


Comparison._repr_html_ = _comparison_page  # type: ignore[attr-defined]


def compare(*results: Result, alpha: float = ALPHA, **named: Result) -> Comparison:
    """Return the differences between results, paired run by run, with their intervals.

    Parameters
    ----------
    results, named
        At least two, of one environment, judge, seed and horizon; a keyword gives a result a name,
        or else it is called by its policy.
    alpha
        Each interval, of Student's t, covers with chance 1 - alpha by itself, where the differences
        of the runs are about normal. Of many intervals some will miss.

    Examples
    --------
    >>> from fairx import TS, Exponential, FairXTS, compare, environments, simulate
    >>> merit, world = Exponential(4), environments.Bernoulli([0.3, 0.6])
    >>> fair, usual = (
    ...     simulate(policy, world, merit, rounds=2000, runs=5, seed=1)
    ...     for policy in (FairXTS(merit, 1, 0.5), TS(1, 0.5))
    ... )
    >>> compare(fair=fair, usual=usual)
    fairness_regret, fair - usual: -776.1 [-829.4, -722.8], lower
    reward_regret, fair - usual: 142.5 [122.7, 162.3], higher
    reward_earned, fair - usual: -132 [-150.7, -113.3], lower
    """
    found = _named(results, named)
    for (one, first), (two, other) in itertools.pairwise(found.items()):
        _check_comparable(one, first, two, other)
    runs = functools.reduce(np.intersect1d, (result.runs for result in found.values()))
    if not runs.size:
        raise ValueError("results must have runs in common to be compared, but have none")
    differences = [
        _difference(name, first, second, found, runs, alpha)
        for first, second in itertools.combinations(found, 2)
        for name in found[first].curves()
        if name != LEFT_OUT and _both_measure(name, found[first], found[second])
    ]
    return Comparison(tuple(differences), tuple(_notes(found, runs)))


def _both_measure(name: str, first: Result, second: Result) -> bool:
    """Tell whether two results have a curve, and mean the same by it."""
    own = {text for text in first.provenance.measures if text.startswith(f"{name}: ")}
    return name in second.curves() and own <= set(second.provenance.measures)


def _named(results: tuple[Result, ...], named: dict[str, Result]) -> dict[str, Result]:
    """Return the results by their names, or by what their policies are called."""
    if len(results) + len(named) < 2:
        given = len(results) + len(named)
        raise rules.InvalidValue("results", f"be at least two to be compared, not {given}")
    policies = [result.provenance.policy for result in results]
    kinds = [policy.partition("(")[0] for policy in policies]
    names = kinds if len(set(kinds)) == len(kinds) else policies
    found = dict(zip(names, results, strict=True)) | named
    if len(found) < len(results) + len(named):
        raise ValueError("results must be told apart: name them, as in compare(a=first, b=second)")
    return found


def _check_comparable(one: str, first: Result, two: str, other: Result) -> None:
    for name in SHARED:
        a, b = getattr(first.provenance, name), getattr(other.provenance, name)
        if a != b:
            raise ValueError(
                f"{one} and {two} cannot be compared run by run: their {name} differs, {a!r} and "
                f"{b!r}; play both with the same"
            )


def _difference(
    name: str, first: str, second: str, found: dict[str, Result], runs: Indices, alpha: float
) -> Difference:
    one, two = (_last(found[label], name, runs) for label in (first, second))
    if not np.isfinite(one - two).all():
        raise rules.InvalidValue(name, "be finite in all runs to be compared")
    return Difference(name, first, second, *mean_interval(one - two, alpha), runs.size)


def _last(result: Result, name: str, runs: Indices) -> Any:
    rows = [int(np.flatnonzero(result.runs == run)[0]) for run in runs]
    return result.curves()[name][rows, -1]


def _notes(found: dict[str, Result], runs: Indices) -> list[str]:
    notes = []
    if any(result.runs.size > runs.size for result in found.values()):
        notes.append(f"only the {runs.size} runs that all have are compared")
    versions = sorted({result.provenance.version for result in found.values()})
    if len(versions) > 1:
        notes.append(f"played by fairx {' and '.join(versions)}: the runs may not share their luck")
    if runs.size == 1:
        notes.append("one run says nothing of others: play more")
    return notes
