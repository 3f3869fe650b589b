"""Pseudo-rewards where only the propensities of the arms shown are known: the weaker form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.types import Indices, Matrix, Vector

from .families import LEAST, Family
from .shares import Pools, summed
from .wealth import HALF, Evidence, Sums

FOUR, TWO = 4, 2  # powers of values that are kept: two are enough where they cannot be bold
ROUNDS = 8
STEEPEST = 600.0  # the largest number to which e is raised


class Shown(NamedTuple):
    """Some decisions in their order, of which only the arm that was shown is known."""

    rewards: Vector  # from 0 to 1, NaN where missing
    arms: Indices
    pools: Indices
    propensities: Vector

    def rows(self, some: Indices | slice) -> Shown:
        """Return some of the decisions."""
        return Shown(self.rewards[some], self.arms[some], self.pools[some], self.propensities[some])


class Side(NamedTuple):
    """What speaks for one side, a row for each power of the values."""

    shown: Matrix  # of each arm, by the decisions that showed it: beyond what these add to others
    beside: Matrix  # of each pool: what its decisions add to an arm that was not shown
    counters: Vector  # of each pool

    def merged(self, other: Side) -> Side:
        """Return the sums of both parts."""
        return Side(*(one + more for one, more in zip(self, other, strict=True)))

    def of_arms(self, pools: Pools) -> Sums:
        """Return the sums of each arm: it is in several pools."""
        arms = self.shown.shape[1]
        powers = [
            one + summed(pools.arm, rest[pools.pool], arms)
            for one, rest in zip(self.shown, self.beside, strict=True)
        ]
        counters = summed(pools.arm, self.counters[pools.pool], arms)
        return Sums(np.array(powers), counters, np.zeros(arms), np.zeros(arms))


class Weak(NamedTuple):
    """The sums of a log up to a decision, of having too little and of having too much.

    The other two are of decisions without a reward, with the rewards that speak least for either.
    """

    under: Side
    over: Side
    under_least: Side
    over_least: Side
    decisions: int
    missing: int
    level: float  # of kappa, by which the next decisions are judged
    weight: float

    def add(self, some: Shown, merit: Family, sizes: Vector) -> Weak:
        """Return the sums with the decisions that come next; `sizes` are those of the pools."""
        missing = np.isnan(some.rewards)
        lost = some.rows(np.flatnonzero(missing)) if missing.any() else None
        some = some.rows(np.flatnonzero(~missing)) if missing.any() else some
        most = _most(merit, sizes)
        scales = np.maximum(most - self.level, _deepest(merit, sizes, self.level))
        piece = Piece(merit, sizes, self.level, self.under.shown.shape[1], most, scales)
        kappas = np.minimum(piece.starts(some) + some.rewards, piece.of(most, some))
        under, over = piece.under(some, kappas, kappas), piece.over(some, kappas, kappas)
        worst = self.under_least, self.over_least
        if lost is not None:
            least = piece.starts(lost)
            least, highest = (np.minimum(k, piece.of(most, lost)) for k in (least, least + 1))
            found = piece.under(lost, least, highest), piece.over(lost, highest, least)
            worst = worst[0].merged(found[0]), worst[1].merged(found[1])
        return Weak(
            self.under.merged(under), self.over.merged(over), *worst,
            self.decisions + missing.size, self.missing + int(missing.sum()),
            *self._level(kappas),
        )  # fmt: skip

    def evidence(self, pools: Pools, shows: Vector) -> Evidence:
        """Return what speaks for either side; an arm's part is its share of shows where on offer."""
        offers = summed(pools.arm, pools.decisions[pools.pool], shows.size)
        sides = (self.under, self.over, *self[2:4])
        under, over, *least = (side.of_arms(pools) for side in sides)
        part = shows / np.maximum(offers, 1.0)
        under = under._replace(shared=under.counters * part)
        lost = (under.merged(least[0]), over.merged(least[1]))
        return Evidence(under, over, *lost, self.decisions, self.missing)

    def _level(self, kappas: Vector) -> tuple[float, float]:
        kept = self.weight * 0.5 ** (kappas.size / HALF)
        weight = kept + kappas.size
        return float((kept * self.level + kappas.sum()) / weight), weight


def nothing_shown(arms: int, pools: int) -> Weak:
    """Return the sums before the first decision."""
    under, over = (
        Side(np.zeros((powers, arms)), np.zeros((powers, pools)), np.zeros(pools))
        for powers in (FOUR, TWO)
    )
    return Weak(under, over, under, over, 0, 0, 0.5, 1.0)


class Piece(NamedTuple):
    """Some decisions that are judged by one level of kappa."""

    merit: Family
    sizes: Vector  # of the pools
    level: float
    arms: int
    most: Vector  # the largest kappa of each pool
    scales: Vector  # by which values of each pool are at least -1

    def starts(self, some: Shown) -> Vector:
        """Return the kappa of each decision if its reward were 0."""
        parts = some.propensities
        if self.merit.floor:
            rest = (1 - self.sizes * self.merit.floor)[some.pools]
            parts = np.maximum((parts - self.merit.floor) / rest, LEAST)
        return np.asarray(np.log(parts) / -self.merit.steepness)

    def under(self, some: Shown, own: Vector, rest: Vector) -> Side:
        """Return what speaks for too little, given kappa for the arm shown and for the others.

        Kappas are at most the largest of their pool.
        """
        scale = self.of(self.scales, some)
        shown = (own - self.level) / scale
        beside = shown if own is rest else (rest - self.level) / scale
        return self._side(some, shown, -beside, 1 / scale, FOUR)

    def over(self, some: Shown, own: Vector, rest: Vector) -> Side:
        """Return what speaks for too much: beside the most that kappa can be.

        There a small propensity never speaks for it, so that no bound on propensities is needed.
        """
        most = self.of(self.most, some)
        shown = 1 - own / most
        beside = shown if own is rest else 1 - rest / most
        return self._side(some, shown, -beside, 1 / most, TWO)

    def of(self, values: Vector, some: Shown) -> Vector:
        """Return what belongs to the pool of each decision; one number where there is one pool."""
        return values if values.size == 1 else values[some.pools]

    def _side(
        self, some: Shown, shown: Vector, beside: Vector, counters: Vector, powers: int
    ) -> Side:
        """Return the sums of the powers of values: of the arm shown, and of others in its pool."""
        shown = shown * (1 / some.propensities - 1)
        own, rest, found = shown, beside, []
        for power in range(powers):
            if power:
                own, rest = own * shown, rest * beside
            found.append((summed(some.arms, own - rest, self.arms), self._pooled(some, rest)))
        return Side(
            np.array([one for one, _ in found]),
            np.array([one for _, one in found]),
            self._pooled(some, counters),
        )

    def _pooled(self, some: Shown, values: Vector) -> Vector:
        if self.sizes.size == 1:  # counters are then one number
            each = values.size == some.arms.size
            return np.array([values.sum() if each else values[0] * some.arms.size])
        return summed(some.pools, values, self.sizes.size)


def _most(merit: Family, sizes: Vector) -> Vector:
    """Return the largest kappa there is: reward 1 of an arm as rare as one of a fair pool can be."""
    others = np.log(np.maximum(sizes - 1, 1e-300)) + min(merit.steepness, STEEPEST)
    return np.asarray(1 + np.logaddexp(0.0, others) / merit.steepness)


def _deepest(merit: Family, sizes: Vector, level: float) -> Vector:
    """Return how far below 0 the value of an arm that is shown can be, for any propensity.

    It is the largest (exp(x) / rest - 1) (level - x / c) over x, minus the logarithm of the arm's
    part of the rest that a floor leaves: where c level - x = 1 - rest exp(-x). The steps come
    from above, where it is larger: stopping early is safe.
    """
    rest = 1 - sizes * merit.floor
    top = min(merit.steepness * max(level, 0.0), STEEPEST)
    x = np.full(sizes.size, top)
    for _ in range(ROUNDS):
        x = np.maximum(top - 1 + rest * np.exp(-x), 0.0)
    return np.asarray((np.exp(x) / rest - 1) * (1 - rest * np.exp(-x)) / merit.steepness)
