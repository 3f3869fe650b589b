"""Pseudo-rewards: what a reward says of the fairness of its decision, without knowing any mean."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.logs.problems import EACH
from fairx.types import Indices, Vector

from .families import LEAST, Family
from .shares import summed


class Decisions(NamedTuple):
    """Some decisions in their order; entries are their candidates, one decision after another."""

    rewards: Vector  # from 0 to 1, NaN where missing
    starts: Indices  # the first entry of each decision
    chosen: Indices  # the entry of the arm that was shown
    arms: Indices  # of each entry
    chances: Vector  # of each entry

    @property
    def sizes(self) -> Indices:
        """How many candidates each decision has."""
        return np.diff(self.starts, append=self.arms.size)


class Entries(NamedTuple):
    """The candidates of some decisions, one after another."""

    row: Indices  # the decision
    arms: Indices
    shown: Vector  # 1 for the arm that was, 0 for others
    shares: Vector  # u: the chances, weighed by the directions
    parts: Vector  # of that which merit shares out
    own: Vector  # the largest distance of a reward from the implied mean


class PseudoRewards(NamedTuple):
    """What the entries of some decisions add, for each reward that there could be.

    The value of an entry is (reward - implied mean of the arm shown) times its `slope`: from -1
    to 1, and with mean 0 where the decision is fair. Its counter, `counter` +
    reward `beside`, has for its mean what the value of an arm has that lacks one unit: of
    reward where the merit is exponential, else of what others have for their merit.
    """

    entries: Entries
    slope: Vector
    counter: Vector
    beside: Vector
    implied: Vector  # mean of the arm that was shown, in each decision
    average: Vector  # of the implied means of each decision
    impossible: npt.NDArray[np.bool_]  # decisions that no means from 0 to 1 make fair

    def at(self, rewards: Vector) -> tuple[Vector, Vector]:
        """Return the values and the counters of all entries for these rewards."""
        row = self.entries.row
        value = (rewards - self.implied)[row] * self.slope
        return value, self.counter + rewards[row] * self.beside


def pseudo_rewards(
    some: Decisions, merit: Family, level: float, groups: Indices | None = None
) -> PseudoRewards:
    """Return the pseudo-rewards of decisions, given the level of rewards that was seen before.

    A fair decision has f(mean of a) = kappa part(a), with one unknown kappa, so that means are
    k(a) + kappa d(a). With any q that was known before in place of kappa they are off by
    (kappa - q) d(a). So (1[a shown] - u(a)) (reward - implied mean of the arm shown), with
    u(a) = chance(a) d(a) / sum of the same, has mean 0, whatever the means are. q makes implied
    means average to `level`, and keeps them from 0 to 1: that bounds the value before the draw.
    With `groups`, the group of each arm, the entries are groups, which are judged like arms.

    Examples
    --------
    >>> chances = np.array([0.25, 0.75])
    >>> some = Decisions(np.array([1.0]), np.array([0]), np.array([1]), np.arange(2), chances)
    >>> found = pseudo_rewards(some, Family(float(np.log(9)), 0.0, 1.0, 0.0), level=0.5)
    >>> found.implied.round(3), found.at(some.rewards)[0].round(3)
    (array([0.625]), array([-0.143,  0.143]))
    """
    row = np.repeat(np.arange(some.starts.size), some.sizes)
    parts = (some.chances - merit.floor) / (1 - some.sizes * merit.floor)[row]
    directions, ends = merit.inverted(np.maximum(parts, LEAST))
    weights = some.chances * directions
    total = np.add.reduceat(weights, some.starts)
    guess = guessed(parts, some.starts, directions, ends, total, level, some.chances)
    means = ends + guess[row] * directions
    own = np.where(some.chances > 0, np.maximum(np.abs(means), np.abs(1 - means)), 0.5)
    shown = np.zeros(row.size)
    shown[some.chosen] = 1.0
    implied = means[some.chosen]
    average = np.add.reduceat(some.chances * means, some.starts)
    entries = Entries(row, some.arms, shown, weights / total[row], parts, own)
    if groups is not None:
        entries = _grouped(entries, groups)
    row, shown, shares, own = entries.row, entries.shown, entries.shares, entries.own
    # Two arms have the same bound, and what one has too much the other lacks: they are one test.
    bound = np.maximum((1 - shares) * own, shares * _largest_other(row, own))
    counter, beside = shares * (1 - shares) / bound, np.zeros(row.size)
    if not merit.steepness:
        beside = (1 - shown) * shares / bound
        # What an arm lacks that should have twice its merit.
        lacked = (guess * directions[some.chosen])[row]
        counter = shown * (1 - shares) * lacked / bound - beside * implied[row]
    slope, closed = (shown - shares) / bound, impossible(some.chances, some.starts, merit)
    return PseudoRewards(entries, slope, counter, beside, implied, average, closed)


def _grouped(entries: Entries, groups: Indices) -> Entries:
    """Return the entries of one group and decision as one."""
    number = int(groups.max()) + 1
    keys, at = np.unique(entries.row * number + groups[entries.arms], return_inverse=True)
    shown, shares, parts = (summed(at, part, keys.size) for part in entries[2:5])
    own = np.zeros(keys.size)
    np.maximum.at(own, at, entries.own)
    row, arms = np.divmod(keys, number)
    return Entries(row, arms, shown, shares, parts, own)


def _largest_other(row: Indices, own: Vector) -> Vector:
    """Return the largest entry of each decision but for the entry itself; 1 where there is none."""
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    top = np.maximum.reduceat(own, starts)[row]
    alone = (own >= top) & (np.add.reduceat((own >= top).astype(np.int64), starts) == 1)[row]
    second = np.maximum.reduceat(np.where(alone, 0.0, own), starts)[row]
    return np.where(alone, np.where(second > 0, second, 1.0), top)


def guessed(
    parts: Vector, starts: Indices, directions: Vector, ends: Vector, total: Vector,
    level: float | Vector, chances: Vector | None = None,
) -> Vector:  # fmt: skip
    """Return the q of each decision; arms that have nothing do not bound it."""
    there, chances = parts > LEAST, parts if chances is None else chances
    low = np.maximum.reduceat(np.where(there, -ends / directions, -np.inf), starts)
    high = np.minimum.reduceat(np.where(there, (1 - ends) / directions, np.inf), starts)
    guess = (level - np.add.reduceat(chances * ends, starts)) / total
    with np.errstate(invalid="ignore"):  # -inf + inf, of decisions in which no arm has anything
        middle = 0.5 * (low + high)
    return np.where(low > high, middle, np.clip(guess, low, high))


def impossible(chances: Vector, starts: Indices, merit: Family) -> npt.NDArray[np.bool_]:
    """Tell decisions whose parts are farther apart than merits can be, whatever was rounded."""
    least = np.minimum.reduceat(chances, starts) + EACH - merit.floor
    most = np.maximum.reduceat(chances, starts) - EACH - merit.floor
    return np.asarray(most > merit.spread * np.maximum(least, 0.0))
