"""What bets on pseudo-rewards have won: a few sums for each arm, which intervals are made of."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.types import Indices, Matrix, Vector

from .families import Family
from .implied import Decisions, Entries, PseudoRewards, pseudo_rewards
from .shares import summed

BETS = 0.95 * 0.5 ** np.arange(16.0)  # from bold, for few decisions, to timid, for a billion
# log(1 + z) for z >= -bet is at least its series up to z or z**3 less these times z**2 or z**4,
# over powers of the bet: what the series leave out, divided by that power, grows with z.
AFTER_ONE = -np.log1p(-BETS) - BETS
AFTER_THREE = AFTER_ONE - BETS**2 / 2 - BETS**3 / 3
AIM = 0.8  # of its share: the arm against which the bets that weigh most do best
HALF = 500.0  # decisions after which what was seen of the level of rewards counts half
STEPS = 50
SIGNS = np.array([[-1.0], [1.0], [-1.0], [1.0]])


class Sums(NamedTuple):
    """What the pseudo-rewards of some decisions add up to, for each arm. Sums of parts add."""

    powers: Matrix  # of values, to the powers 1 to 4: a row each
    counters: Vector
    counter_squares: Vector  # 0 where counters are known before the draw
    shared: Vector  # counters times what the arm had of that which merit shares out

    def merged(self, other: Sums) -> Sums:
        """Return the sums of both parts."""
        return Sums(*(one + more for one, more in zip(self, other, strict=True)))

    def turned(self) -> Sums:
        """Return the sums of values with the other sign."""
        return self._replace(powers=SIGNS * self.powers)


class Evidence(NamedTuple):
    """What speaks for having too little and, with its sign turned, for having too much.

    The last two are both with the missing rewards that speak least for them.
    """

    under: Sums
    over: Sums
    under_least: Sums
    over_least: Sums
    decisions: int
    missing: int


class Running(NamedTuple):
    """The sums of a log up to a decision, to which the next ones are added.

    `least` and `most` are of decisions whose reward is missing: they have, for each arm, the
    reward that makes its value least and most. What was lost cannot have been beyond.
    """

    known: Sums
    least: Sums
    most: Sums
    decisions: int
    missing: int
    impossible: int
    level: float  # of rewards, by which the next decisions are judged
    weight: float  # of what was seen of it

    def add(self, some: Decisions, merit: Family, groups: Indices | None = None) -> Running:
        """Return the sums with the decisions that come next."""
        found, there = pseudo_rewards(some, merit, self.level, groups), ~np.isnan(some.rewards)
        added = partial(
            _summed, found.entries, arms=self.known.counters.size, exact=bool(merit.steepness)
        )
        least, most = self.least, self.most
        if not there.all():
            ends = [np.array(found.at(np.full(there.size, end))) for end in (0.0, 1.0)]
            least = least.merged(added(np.minimum(*ends), ~there))
            most = most.merged(added(np.maximum(*ends), ~there))
        return Running(
            self.known.merged(added(np.array(found.at(some.rewards)), there)),
            least,
            most,
            self.decisions + there.size,
            self.missing + int((~there).sum()),
            self.impossible + int(found.impossible.sum()),
            *self._level(found, some.rewards, there),
        )

    def evidence(self) -> Evidence:
        """Return what speaks for either side."""
        least, most = self.known.merged(self.least), self.known.merged(self.most)
        sides = (self.known, self.known.turned(), least, most.turned())
        return Evidence(*sides, self.decisions, self.missing)

    def _level(
        self, found: PseudoRewards, rewards: Vector, there: npt.NDArray[np.bool_]
    ) -> tuple[float, float]:
        """Return what rewards average to of late: what was shown by chance makes no difference."""
        seen = (found.average + rewards - found.implied)[there]
        kept = self.weight * 0.5 ** (seen.size / HALF)
        weight = kept + seen.size
        return float(np.clip((kept * self.level + seen.sum()) / weight, 0.0, 1.0)), weight


def nothing(arms: int) -> Running:
    """Return the sums before the first decision.

    Examples
    --------
    >>> nothing(3).known.counters
    array([0., 0., 0.])
    """
    none = Sums(np.zeros((4, arms)), *np.zeros((3, arms)))
    return Running(none, none, none, 0, 0, 0, 0.5, 1.0)


def _summed(
    entries: Entries, both: Matrix, rows: npt.NDArray[np.bool_], arms: int, exact: bool
) -> Sums:
    """Return the sums of the values and counters of some decisions."""
    kept = rows[entries.row]
    (values, counters), labels = both[:, kept], entries.arms[kept]
    squares = values * values
    powers = [values, squares, squares * values, squares * squares]
    noise = np.zeros(labels.size) if exact else counters * counters
    return Sums(
        np.array([summed(labels, power, arms) for power in powers]),
        *(summed(labels, one, arms) for one in (counters, noise, counters * entries.parts[kept])),
    )


def odds(merit: Family) -> Vector:
    """Return the logarithms of what is staked on each bet: any that are chosen before will do.

    Most is staked on bets that do best against an arm at four fifths of its share, where rewards
    are as unsure as those of a coin.
    """
    if merit.steepness:
        lack = -math.log(AIM) / merit.steepness
    else:
        lack = (AIM ** (-1 / merit.exponent) - 1) * (0.5 + merit.offset)
    best = math.log2(BETS[0] / min(BETS[0], 2.4 * lack))
    weights = 1 / (1 + (np.arange(BETS.size) - best) ** 2)
    return np.asarray(np.log(weights / weights.sum()))


def lowest(powers: Matrix, stakes: Vector, error: float) -> Vector:
    """Return what the sums of conditional means are above, at all times, but for a chance `error`.

    Notes
    -----
    For values y >= -1 and a bet b, the product of (1 + b y) exp(-b E y) is a supermartingale, as
    1 + x <= exp(x); so is a mixture over fixed bets, and it is ever above 1 / error with chance
    `error` at most (Ville). Its logarithm is known from below by the sums of two or four powers. As a
    function of the sum of means it is convex and falls: Newton's steps from the left stay there,
    so that stopping early would only make the interval wider.

    Examples
    --------
    >>> values = np.tile([1.0, -0.5], 500)
    >>> powers = np.array([[np.sum(values**k)] for k in (1, 2, 3, 4)])
    >>> lowest(powers, odds(Family(4.0, 0.0, 1.0, 0.0)), 0.05).round()
    array([182.])
    """
    needed, won = -math.log(error), _won(powers) + stakes
    found = np.max((won - needed) / BETS, axis=1)
    for _ in range(STEPS):
        gains = won - BETS * found[:, None]
        top = gains.max(axis=1)
        parts = np.exp(gains - top[:, None])
        step = (top + np.log(parts.sum(axis=1)) - needed) * parts.sum(axis=1) / (parts @ BETS)
        found = found + step
        if (step <= 1e-12 * np.maximum(1.0, np.abs(found))).all():
            break
    return np.asarray(found)


def _won(powers: Matrix) -> Matrix:
    """Return what each bet has won at least, as a logarithm, from sums of two powers or of four."""
    one, two = powers[0][:, None], powers[1][:, None]
    won = BETS * one - AFTER_ONE * two
    if len(powers) == 2:
        return np.asarray(won)
    three, four = powers[2][:, None], powers[3][:, None]
    more = BETS * one - BETS**2 / 2 * two + BETS**3 / 3 * three - AFTER_THREE * four
    return np.asarray(np.maximum(won, more))
