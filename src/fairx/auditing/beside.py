"""What an arm had beside the others over what its rewards earn, by pseudo-rewards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.types import Vector

from .always_valid import Intervals
from .families import Family
from .once import ENOUGH, Look, error_of, width
from .result import Beside, Course
from .wealth import Evidence, Sums, lowest, odds

COUNTERS = 0.1  # the part of alpha for counters, where those are not known before the draw
ROUNDING = 1e-9
MOST = 12  # arms that are followed over time


class Trial(NamedTuple):
    """How arms are judged: `error` is the chance of a mistake of one arm on one side.

    `among_all` says that an arm is beside all arms, itself included, and not beside the others.
    """

    merit: Family
    error: float
    among_all: bool = False
    once: bool = False


def once(evidence: Evidence, test: Trial, alpha: float, look: Look) -> Trial:
    """Return the trial at a single look, with the tests of all arms corrected."""
    scores = np.maximum(_scores(evidence.under), _scores(evidence.over))
    enough = _enough(evidence.under)
    error = error_of(np.where(enough, scores, 0.0), alpha, look)
    return test._replace(error=error, once=True)


def trial(merit: Family, alpha: float, arms: int, among_all: bool = False) -> Trial:
    """Return the trial of one arm among all."""
    # What one of two arms lacks the other has too much, in as many units: theirs is one test.
    return Trial(merit, alpha / 2 / (arms if arms > 2 or among_all else 1), among_all)


def besides(looks: Sequence[Evidence], test: Trial) -> tuple[Beside, ...]:
    """Return what each arm had, after the last look."""
    last = looks[-1]
    ratio, ratios = _estimate(last.under, test), _ratios(_lacks(last.under, last.over, test), test)
    part = _divided(last.under.shared, last.under.counters)
    verdicts = [_verdicts(_lacks(one.under, one.over, test)) for one in looks]
    since = [_since(arm, [look.decisions for look in looks]) for arm in zip(*verdicts, strict=True)]
    shares = [_shares(one, part, test) for one in (ratio, *ratios)]
    columns = [_plain(one) for one in (ratio, *ratios, *shares)]
    seen = ((last.under.powers[1] > 0) & (last.under.shared != 0)).tolist()
    return tuple(
        Beside(*row)
        for row in zip(*columns, *_bounds(last, test), verdicts[-1], since, seen, strict=True)
    )


def courses(
    names: list[Any], looks: Sequence[Evidence], times: Sequence[float], test: Trial
) -> tuple[Course, ...]:
    """Return how the arms with the strongest evidence fared over time."""
    each = [_lacks(look.under, look.over, test) for look in looks]
    strength = np.maximum(each[-1].low, -each[-1].high)
    chosen = np.argsort(-strength, kind="stable")[:MOST].tolist()
    ratios = [
        (_estimate(look.under, test), *_ratios(one, test))
        for look, one in zip(looks, each, strict=True)
    ]
    decisions = tuple(look.decisions for look in looks)
    parts = [[_plain(np.array(part)[chosen]) for part in look] for look in ratios]
    return tuple(
        Course(
            names[arm], decisions, tuple(times),
            *(tuple(look[part][place] for look in parts) for part in range(3)),
        )
        for place, arm in enumerate(chosen)
    )  # fmt: skip


def _lacks(under: Sums, over: Sums, test: Trial) -> Intervals:
    """Return intervals of what each arm lacks: sums of means over what one unit would add to them."""
    if test.once:
        return _lacks_once(under, over, width(test.error))
    stakes, exact = odds(test.merit), bool(test.merit.steepness)
    error = test.error if exact else (1 - COUNTERS) * test.error
    low, high = lowest(under.powers, stakes, error), -lowest(over.powers, stakes, error)
    if exact:
        return Intervals(_divided(low, under.counters), _divided(high, over.counters))
    few, many = _counted(under, over, test, stakes)
    return Intervals(
        _divided(low, np.where(low > 0, many, few)), _divided(high, np.where(high > 0, few, many))
    )


def _lacks_once(under: Sums, over: Sums, reach: float) -> Intervals:
    """Return normal intervals, which hold at one look; unknown where too few values have a say."""
    low = _divided(under.powers[0] - reach * np.sqrt(under.powers[1]), under.counters)
    high = -_divided(over.powers[0] - reach * np.sqrt(over.powers[1]), over.counters)
    known = _enough(under)
    return Intervals(np.where(known, low, -np.inf), np.where(known, high, np.inf))


def _scores(sums: Sums) -> Vector:
    return np.nan_to_num(_divided(sums.powers[0], np.sqrt(sums.powers[1])), nan=0.0)


def _enough(sums: Sums) -> npt.NDArray[np.bool_]:
    """Tell arms of which no few values make up the sum: as good as so many that are alike."""
    return np.asarray(sums.powers[1] ** 2 >= ENOUGH * sums.powers[3])


def _counted(least: Sums, most: Sums, test: Trial, stakes: Vector) -> tuple[Vector, Vector]:
    """Return between what the sums of the means of counters are: they may be off where chosen."""
    scale, error = 1 + 2 * test.merit.offset, COUNTERS * test.error
    few = lowest(np.array([least.counters, least.counter_squares]), stakes, error)
    turned = np.array([-most.counters / scale, most.counter_squares / scale**2])
    return np.maximum(few, 0.0), -scale * lowest(turned, stakes, error)


def _bounds(last: Evidence, test: Trial) -> tuple[list[Any], list[Any]]:
    """Return between what the ratios are, whatever the missing rewards were."""
    if not last.missing:
        return [None] * last.under.counters.size, [None] * last.under.counters.size
    found = _ratios(_lacks(last.under_least, last.over_least, test), test)
    return _plain(found.low), _plain(found.high)


def _shares(ratio: Vector, part: Vector, test: Trial) -> Vector:
    """Return what a ratio is of an arm's share if the others are treated alike."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        others = ratio ** (1 / (1 - part)) if test.among_all else ratio
        return np.asarray(part + (1 - part) * others)


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


def _ratios(lacks: Intervals, test: Trial) -> Intervals:
    return Intervals(_ratio(lacks.high, test.merit), _ratio(lacks.low, test.merit))


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
