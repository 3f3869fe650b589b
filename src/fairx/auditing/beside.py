"""What an arm had beside the others over what its rewards earn, by pseudo-rewards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fairx.types import Vector

from .always_valid import Intervals
from .implied import Family
from .result import Beside, Course
from .wealth import Running, Sums, lowest, odds

SIGNS = np.array([[-1.0], [1.0], [-1.0], [1.0]])  # of powers of values whose sign is turned
COUNTERS = 0.1  # the part of alpha for counters, where those are not known before the draw
ROUNDING = 1e-9
MOST = 12  # arms that are followed over time


class Trial(NamedTuple):
    """How arms are judged: `error` is the chance of a mistake of one arm on one side."""

    merit: Family
    error: float


def trial(merit: Family, alpha: float, arms: int) -> Trial:
    """Return the test of one arm among all; what one of two lacks the other has: that is one."""
    return Trial(merit, alpha / 2 / (arms if arms > 2 else 1))


def besides(looks: Sequence[Running], test: Trial) -> tuple[Beside, ...]:
    """Return what each arm had, after the last look."""
    last = looks[-1]
    known, wide = last.known, _bounds(last, test)
    lacks = _lacks(known, known, test)
    ratios = _ratios(lacks, test.merit)
    ratio = _estimate(known, test)
    part = _divided(known.shared, known.counters)
    shares = [part + (1 - part) * one for one in (ratio, *ratios)]
    verdicts = [_verdicts(_lacks(one.known, one.known, test)) for one in looks]
    since = [_since(arm, [look.decisions for look in looks]) for arm in zip(*verdicts, strict=True)]
    columns = [_plain(one) for one in (ratio, *ratios, *shares)]
    seen = (known.powers[1] > 0).tolist()
    return tuple(
        Beside(*row) for row in zip(*columns, *wide, verdicts[-1], since, seen, strict=True)
    )


def courses(
    names: list[Any], looks: Sequence[Running], times: Sequence[float], test: Trial
) -> tuple[Course, ...]:
    """Return how the arms with the strongest evidence fared over time."""
    each = [_lacks(look.known, look.known, test) for look in looks]
    strength = np.maximum(each[-1].low, -each[-1].high)
    chosen = np.argsort(-strength, kind="stable")[:MOST]
    ratios = [_ratios(one, test.merit) for one in each]
    middle = [_estimate(look.known, test) for look in looks]
    decisions = tuple(look.decisions for look in looks)
    return tuple(
        Course(
            names[i], decisions, tuple(times),
            *(tuple(_plain(np.array([one[i] for one in part]))) for part in (
                middle, [one.low for one in ratios], [one.high for one in ratios])),
        )
        for i in chosen.tolist()
    )  # fmt: skip


def _lacks(least: Sums, most: Sums, test: Trial) -> Intervals:
    """Return intervals of what each arm lacks: sums of means over what one unit would add to them."""
    stakes, exact = odds(test.merit), bool(test.merit.steepness)
    error = test.error if exact else (1 - COUNTERS) * test.error
    low, high = lowest(least.powers, stakes, error), -lowest(SIGNS * most.powers, stakes, error)
    if exact:
        return Intervals(_divided(low, least.counters), _divided(high, least.counters))
    few, many = _counted(least, most, test, stakes)
    return Intervals(
        _divided(low, np.where(low > 0, many, few)), _divided(high, np.where(high > 0, few, many))
    )


def _counted(least: Sums, most: Sums, test: Trial, stakes: Vector) -> tuple[Vector, Vector]:
    """Return between what the sums of the means of counters are: they may be off where chosen."""
    scale, error = 1 + 2 * test.merit.offset, COUNTERS * test.error
    few = lowest(np.array([least.counters, least.counter_squares]), stakes, error)
    turned = np.array([-most.counters / scale, most.counter_squares / scale**2])
    return np.maximum(few, 0.0), -scale * lowest(turned, stakes, error)


def _bounds(last: Running, test: Trial) -> tuple[list[Any], list[Any]]:
    """Return between what the ratios are, whatever the missing rewards were."""
    if not last.missing:
        return [None] * last.known.counters.size, [None] * last.known.counters.size
    least, most = (last.known.merged(end) for end in (last.least, last.most))
    found = _ratios(_lacks(least, most, test), test.merit)
    return _plain(found.low), _plain(found.high)


def _estimate(known: Sums, test: Trial) -> Vector:
    """Return the ratio at the sums as they are, unknown where nothing was counted."""
    counters = np.where(known.counters > 0, known.counters, np.nan)
    return _ratio(_divided(known.powers[0], counters), test.merit)


def _ratio(lack: Vector, merit: Family) -> Vector:
    """Return how often an arm is shown that lacks so much, over how often its rewards earn."""
    with np.errstate(divide="ignore", over="ignore"):
        if merit.steepness:
            return np.asarray(np.exp(-merit.steepness * lack))
        whole = np.where(1 + lack < ROUNDING, 0.0, 1 + lack)  # rewards that earn nothing
        return np.asarray(whole**-merit.exponent)


def _ratios(lacks: Intervals, merit: Family) -> Intervals:
    return Intervals(_ratio(lacks.high, merit), _ratio(lacks.low, merit))


def _divided(sums: Vector, counters: Vector) -> Vector:
    """Return the quotient, infinite or not a number where nothing was counted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums / counters)


def _verdicts(lacks: Intervals) -> list[str]:
    found: list[str] = np.select(
        [lacks.low > 0, lacks.high < 0], ["under", "over"], "unclear"
    ).tolist()
    return found


def _since(verdicts: Sequence[str], decisions: Sequence[int]) -> int | None:
    """Return the decisions after which an arm was first accused of what it is accused of."""
    if verdicts[-1] == "unclear":
        return None
    return decisions[verdicts.index(verdicts[-1])]


def _plain(values: Vector) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]
