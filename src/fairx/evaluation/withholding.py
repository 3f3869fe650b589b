"""Where an interval for one look would miss the value more often than it says: it is withheld."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.texts import several
from fairx.types import Indices, Vector

from .foreseen import foreseen
from .gathering import Gathered
from .intervals import by_unit, deviations, standard_error
from .logged import PIECE
from .support import unbalanced
from .terms import Terms

ENOUGH = 30  # rewards that must count; these three numbers are from benchmarks/hostile_logs.py
# How many units must deviate from the estimate, and what the squared skewness of the estimate may be;
# percentiles of the bootstrap, unlike Student's t, do not allow for few.
DEVIATIONS = {"normal": 5, "bootstrap": 15}
SKEWED = {"normal": 1 / 6, "bootstrap": 1 / 25}
HEAVY = 2.5  # the tail index of rewards; at 2 they have no variance
TAIL = 10  # rewards that tell a tail, at least
UNSURE = 1.28  # standard errors of that index: it is below with a chance of 1 in 10
SHIFT = 6.0  # standard deviations between the halves of a log, by chance once in a billion
EXACT = 1e-12  # what adding up may lose
HUGE = 1e30  # whose sixth power is still a number
REMEDY = "the interval 'sequence' of ips needs no more than a range of rewards"


def reasons(
    terms: Terms, found: Gathered, names: Sequence[Any], estimator: str, interval: str
) -> tuple[str, ...]:
    """Return why there is no interval for one look, in words; nothing where there is one.

    An interval rests on squares: of how much rewards count, and of how far units deviate from the
    estimate. Of n squares of the same size n decide; in general (sum of s)^2 / sum of s^2 do. Skewness
    makes an interval miss on one side.
    """
    return (
        *_too_few(terms, found, names, estimator, interval),
        *_heavy(found),
        *(_unlike_one(terms, found) if estimator == "ips" else ()),
        *(_moved(found) if estimator == "dm" else ()),
    )


def _too_few(
    terms: Terms, found: Gathered, names: Sequence[Any], estimator: str, interval: str
) -> Iterator[str]:
    """Say that too few rewards decide, or would with one more."""
    counted = deciding(by_unit(terms.units, squared(terms.coefficients)))
    if terms.units is None and estimator != "dm":  # whose rewards count by how many there are
        counted = min(counted, foreseen(terms, found))
    parts = deviations(terms)
    largest = float(np.abs(parts).max())
    if largest <= EXACT * float(np.abs(terms.numerators).max()):
        yield f"all rewards that count are alike, so that none tells how they vary: {REMEDY}"
        return
    if counted < ENOUGH:
        yield f"{_few(terms, found, names, counted)}: leave it out, or {REMEDY}"
        return
    parts /= largest
    squares = np.square(parts)
    powers = np.array([squares.sum(), squares @ parts, squares @ squares])
    if uneven(powers, interval):
        yield (
            f"about {deciding(squares):.0f} of {parts.size:,} rewards decide, far larger than the "
            f"others or with far larger weights, mostly in one direction: {REMEDY}"
        )
        return
    del parts, squares
    one = uneven(powers[:, None, None] + one_more(terms, found, largest), interval)
    if one.any():
        yield (
            f"one more reward of arm {names[int(np.argmax(one.any(axis=0)))]}, as low or as high as any, "
            f"would decide: those there are are too few and too much alike to tell how they vary: {REMEDY}"
        )


def _heavy(found: Gathered) -> Iterator[str]:
    """Say that the tail of rewards may be too heavy."""
    index = tail_index(found.rows.rewards)
    if index < HEAVY:
        rule = f"their tail may fall with a power of {index:.2g}, and must with {HEAVY:g} at least"
        yield f"some rewards are far larger than the others ({rule}): {REMEDY}"


def _unlike_one(terms: Terms, found: Gathered) -> Iterator[str]:
    """Say that weights do not average to 1."""
    each = found.rows.weights
    mean = Terms(each, np.broadcast_to(1.0, each.shape), terms.units, each)
    if unbalanced(mean.estimate(), standard_error(mean), float(found.unsupported.sum())):
        yield (
            f"the mean weight is {mean.estimate():.3g}, not 1 as it must be but for chance, and ips is "
            f"off by as much: if the propensities are right, use snips, or {REMEDY}"
        )


def _moved(found: Gathered) -> Iterator[str]:
    """Say that the logging policy changed."""
    if found.changing or shifted(found):
        yield (
            "the logging policy changed on the way, so that it may have learned from these rewards, "
            "which makes the means of its arms too low: use estimator dr, or stabilised"
        )


def uneven(powers: Vector, interval: str) -> npt.NDArray[np.bool_]:
    """Tell whether few deviations decide, or one direction, by the sums of their powers 2, 3 and 4."""
    second, third, fourth = powers
    few = second**2 < DEVIATIONS[interval] * fourth
    return np.asarray(few | (third**2 > SKEWED[interval] * second**3))


def one_more(terms: Terms, found: Gathered, largest: float) -> Vector:
    """Return what another reward of each arm would add to the powers of deviations, beside the largest.

    It is as low, or as high, as any in the log. An arm that was shown 40 times and brought nothing may
    bring something in 1 of 20: no deviation tells of it.
    """
    rows, arms = found.rows, len(found.exposures)
    sums, estimate = np.zeros((2, 2, arms)), terms.estimate()
    ends = float(rows.rewards.min()), float(rows.rewards.max())
    for start in range(0, len(rows.arms), PIECE):
        some = slice(start, start + PIECE)
        known = terms.numerators[some] - estimate * terms.denominators[some]
        for side, end in enumerate(ends):
            other = known + terms.coefficients[some] * (end - rows.rewards[some])
            other = np.clip(other / largest, -HUGE, HUGE)
            sums[0, side] += np.bincount(rows.arms[some], other, arms)
            sums[1, side] += np.bincount(rows.arms[some], other * other, arms)
    second = sums[1] / np.maximum(np.bincount(rows.arms, minlength=arms), 1)
    return np.stack([second, np.sign(sums[0]) * second**1.5, second**2])


def squared(values: Vector) -> Vector:
    """Return squares as parts of the largest, which the square of a huge value does not reach."""
    found = values / max(float(np.abs(values).max()), 1e-300)
    return np.square(found, out=found)


def deciding(squares: Vector) -> float:
    """Return how many squares decide about their sum.

    Examples
    --------
    >>> deciding(np.array([1.0, 1.0, 1.0, 1.0])), round(deciding(np.array([100.0, 1.0, 1.0])), 2)
    (4.0, 1.04)
    """
    total = float(squares @ squares)
    return float(squares.sum()) ** 2 / total if total else 0.0


def tail_index(rewards: Vector) -> float:
    """Return the least power with which the tail of rewards may fall; infinite for bounded ones.

    It is told by the largest (Hill 1975), as many as the root of all that are not the median, and so much below what they
    say that it is smaller with a chance of 1 in 10: in a few hundred rewards a heavy tail may look like a light one.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(tail_index(1 + rng.pareto(2.1, 10_000)))
    2
    >>> tail_index((rng.random(10_000) < 0.2).astype(float))
    inf
    """
    far = rewards - np.median(rewards)
    np.abs(far, out=far)
    number = int(np.sqrt(np.count_nonzero(far)))
    if number < TAIL:
        return float("inf")
    far.partition(far.size - number - 1)
    largest = far[far.size - number - 1 :]
    excess = float(np.mean(np.log(largest[1:] / largest[0])))
    return (1 - UNSURE / number**0.5) / excess if excess > EXACT else float("inf")


def shifted(found: Gathered) -> bool:
    """Tell whether arms were shown more in one half of the log than in the other."""
    arms, number = found.rows.arms, len(found.exposures)
    if found.pooled:
        return False  # what is on offer may change without the policy
    halves: list[Indices] = [
        np.bincount(part, minlength=number) for part in np.array_split(arms, 2)
    ]
    shown = halves[0] + halves[1] > 0
    apart = np.square(halves[0] - halves[1])[shown] / (halves[0] + halves[1])[shown]
    freedom = max(int(shown.sum()) - 1, 1)
    return bool(apart.sum() - freedom > SHIFT * np.sqrt(2 * freedom))


def _few(terms: Terms, found: Gathered, names: Sequence[Any], number: float) -> str:
    """Return which arm has the largest part in too few rewards."""
    arms = found.rows.arms
    parts = np.bincount(arms, squared(terms.coefficients), len(names))
    worst, shows = int(parts.argmax()), np.bincount(arms, minlength=len(names))
    told = f"about {several(round(number), 'reward decides', 'rewards decide')}, of {ENOUGH} needed"
    share = parts[worst] / parts.sum()
    return f"{told}; {share:.0%} is up to arm {names[worst]}, shown {several(int(shows[worst]), 'time', 'times')}"
