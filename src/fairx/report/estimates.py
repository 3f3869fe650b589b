"""What runs say of one number: an interval for every chance of error, alone or put together.

Values have their runs along the last axis, so that a test can hold thousands of experiments against
a rule at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from fairx.simulation.bands import ALPHA, Interval, mean_interval, plain
from fairx.types import Indices

from .metrics import difference_interval, distance_differences, jackknifed, share_interval

Bounds = Callable[[float], Interval]


class Missing(LookupError):
    """The runs lack what a claim is about."""


class Sample(NamedTuple):
    """One number of each run, and what says whether another sample shares its luck."""

    values: Any  # (..., runs)
    runs: Indices  # their numbers
    world: tuple[str, int]  # environment and seed: with them and its number a run has its stream


class Estimate(NamedTuple):
    """A number that the runs estimate."""

    at: Bounds  # from a chance of error, two-sided, to the interval
    runs: int  # that it rests on, 0 for what is known without
    paired: bool | None  # run by run; None where nothing is compared
    name: str = ""  # of the part that an extreme is of

    @property
    def value(self) -> Any:
        """The estimate itself."""
        return self.at(ALPHA).value


def known(value: float) -> Estimate:
    """Return a number that does not depend on runs."""
    return Estimate(lambda alpha: Interval(value, value, value), 0, None)


def mean_of(sample: Sample) -> Estimate:
    """Return the mean over all possible runs, by Student's t."""
    return Estimate(lambda alpha: mean_interval(sample.values, alpha), sample.runs.size, None)


def difference(first: Sample, second: Sample) -> Estimate:
    """Return mean(first) - mean(second): run by run where both share their streams, else Welch's.

    Examples
    --------
    >>> world = ("yeast", 1)
    >>> one = Sample(np.array([5.0, 7.0, 9.0]), np.arange(3), world)
    >>> two = Sample(np.array([4.0, 6.5, 7.5]), np.arange(3), world)
    >>> [round(end, 2) for end in difference(one, two).at(0.05)], difference(one, two).paired
    ([1.0, -0.24, 2.24], True)
    >>> elsewhere = two._replace(world=("mediamill", 1))
    >>> [round(end, 2) for end in difference(one, elsewhere).at(0.05)]
    [1.0, -3.95, 5.95]
    """
    if first.world == second.world and np.intersect1d(first.runs, second.runs).size:
        one, two = paired(first, second)
        return mean_of(one._replace(values=one.values - two.values))._replace(paired=True)
    runs = min(first.runs.size, second.runs.size)
    a, b = first.values, second.values
    return Estimate(lambda alpha: difference_interval(a, b, alpha), runs, paired=False)


def paired(first: Sample, second: Sample) -> tuple[Sample, Sample]:
    """Return the runs that both have, in one order."""
    both, here, there = np.intersect1d(first.runs, second.runs, return_indices=True)
    return (
        Sample(first.values[..., here], both, first.world),
        Sample(second.values[..., there], both, second.world),
    )


def ratio(first: Sample, second: Sample) -> Estimate:
    """Return the geometric mean of first / second over the runs: the difference of logarithms."""
    return exponential(difference(_logarithm(first), _logarithm(second)))


def geometric_mean(sample: Sample) -> Estimate:
    """Return the exponential of the mean logarithm."""
    return exponential(mean_of(_logarithm(sample)))


def exponential(estimate: Estimate) -> Estimate:
    """Return the exponential of what is estimated."""

    def at(alpha: float) -> Interval:
        with np.errstate(over="ignore"):
            return Interval(*(plain(np.exp(end)) for end in estimate.at(alpha)))

    return estimate._replace(at=at)


def _logarithm(sample: Sample) -> Sample:
    if (sample.values <= 0).any():
        raise Missing("a run has nothing to form a ratio with: a value that is not positive")
    return sample._replace(values=np.log(sample.values))


def share_of_runs(sample: Sample) -> Estimate:
    """Return the chance that a run has a property (1 or 0), by Clopper and Pearson: exact."""
    hits, runs = sample.values.sum(axis=-1), sample.runs.size
    return Estimate(lambda alpha: share_interval(hits, runs, alpha), runs, None)


def apartness(wide: list[Sample], narrow: list[Sample]) -> Estimate:
    """Return how much farther two runs are apart in `wide` than in `narrow`: a ratio.

    The geometric mean of |x - x'| over pairs of runs and over the samples, which heavy tails do not
    sway as they sway a variance; its interval is a jackknife's.
    """
    runs = reduce(np.intersect1d, [sample.runs for sample in (*wide, *narrow)])
    if runs.size < 3:  # a jackknife leaves out one, and needs two more
        return Estimate(lambda alpha: Interval(math.nan, -math.inf, math.inf), runs.size, None)
    common = Sample(runs, runs, wide[0].world)
    logs = [
        distance_differences(paired(one, common)[0].values, paired(two, common)[0].values)
        for one, two in zip(wide, narrow, strict=True)
    ]
    found = mean_of(Sample(jackknifed(sum(logs) / len(logs)), runs, common.world))
    return exponential(found)._replace(paired=wide[0].world == narrow[0].world)


def least(parts: Mapping[str, Estimate]) -> Estimate:
    """Return the least of several numbers.

    It is above a margin where all are (each by its own interval: an intersection-union test), and
    below one where any is (Bonferroni's correction: a union-intersection test). So the lower end
    is that of the lowest interval at alpha, the upper end that at alpha / parts.

    Examples
    --------
    >>> low = Estimate(lambda alpha: Interval(1.0, 1.0 - alpha, 1.0 + alpha), 10, None)
    >>> high = Estimate(lambda alpha: Interval(2.0, 2.0 - alpha, 2.0 + alpha), 10, None)
    >>> found = least({"one": low, "two": high})
    >>> found.at(0.1), found.name
    (Interval(value=1.0, low=0.9, high=1.05), 'one')
    """

    def at(alpha: float) -> Interval:
        each = [part.at(alpha) for part in parts.values()]
        strict = [part.at(alpha / len(parts)) for part in parts.values()]
        ends = ([i.value for i in each], [i.low for i in each], [i.high for i in strict])
        return Interval(*(plain(reduce(np.minimum, end)) for end in ends))

    name = min(parts, key=lambda key: float(np.mean(parts[key].value)))
    runs = min(part.runs for part in parts.values())
    pairs = {part.paired for part in parts.values()} - {None}
    return Estimate(at, runs, all(pairs) if pairs else None, parts[name].name or name)


def most(parts: Mapping[str, Estimate]) -> Estimate:
    """Return the greatest of several numbers: `least` with the ends the other way round."""
    return _negative(least({name: _negative(part) for name, part in parts.items()}))


def _negative(estimate: Estimate) -> Estimate:
    def at(alpha: float) -> Interval:
        value, low, high = estimate.at(alpha)
        return Interval(-value, -high, -low)

    return estimate._replace(at=at)


def minus(first: Estimate, second: Estimate) -> Estimate:
    """Return the difference of two numbers, whatever they have to do with each other: Bonferroni."""

    def at(alpha: float) -> Interval:
        one, two = first.at(alpha / 2), second.at(alpha / 2)
        return Interval(one.value - two.value, one.low - two.high, one.high - two.low)

    return Estimate(at, min(first.runs, second.runs), first.paired)


def ordered_pairs(samples: Mapping[str, Sample]) -> dict[str, tuple[Sample, Sample]]:
    """Return all pairs of samples, each in both orders, by their names."""
    return {
        f"{one} to {two}": (samples[one], samples[two])
        for one, two in itertools.permutations(samples, 2)
    }
