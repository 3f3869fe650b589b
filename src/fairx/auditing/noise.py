"""What means that are estimated, and exposure that is told from shows, do to the fairness regret."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri

from fairx.merit import Merit
from fairx.types import Matrix, Vector

from .merits import Merits, Rewarded, logs_of
from .shares import chances, fair_shares
from .spread import scaled
from .sums import LogSums

NORMAL = 1.96
DRAWS = 60  # of what the means could be
SURE = 3  # of 61 draws that are alike, one of the three largest comes last with a chance of 4.9 %
FLOORS = 40  # draws of what the means of a fair log could have been found to be
MORE = 2.0  # rewards that vary as those of a coin, or of all arms, count so often with an arm's own
ALIKE = 1e-12
Apart = Callable[[Vector], Vector]  # from the logarithms of merits to how much each share differs


class Noise(NamedTuple):
    """What is not known of the regret."""

    floor: float  # the regret that an exactly fair log of this size shows on average
    reach: float  # how far from the truth the regret may be, in 95 of 100 logs, at one look


class Shown(NamedTuple):
    """Exposure that is told from shows: they could have been others, too."""

    fair: Vector
    shares: Vector
    number: float  # of independent shows

    def other(self, shares: Vector, generator: np.random.Generator) -> Vector:
        """Return how much shares of so many shows differ from those that they are drawn by."""
        chances = shares / shares.sum()
        return np.asarray(generator.multinomial(int(self.number), chances) / self.number - chances)


class Known(NamedTuple):
    """What means, or clicks where places are looked at so often, are told from."""

    sums: Rewarded
    merit: Merit
    merits: Merits
    ends: tuple[float, float]
    looked: Vector | float = 1.0
    rated: bool = False  # merits are known: only shows are drawn

    def logs(self, means: Vector) -> Vector:
        """Return the logarithms of merits of means that may be beyond what is possible."""
        return self.merits.logs if self.rated else logs_of(self.merit, np.clip(means, *self.ends))


def noise(sums: LogSums, known: Known, regret: float) -> Noise:
    """Return what is not known of the regret of decisions, which is so large."""
    pools, decisions = sums.pools, float(sums.pools.decisions.sum())
    if sums.exposure is None and sums.inverse is None:
        fair = fair_shares(pools, known.merits.logs)
        shown = Shown(fair, sums.shows / decisions, decisions)
        return noise_of(known, lambda logs: fair_shares(pools, logs) - fair, shown)
    weights = pools.decisions[pools.pool] / decisions
    fair = chances(pools, known.merits.logs)
    found = noise_of(known, lambda logs: weights * (chances(pools, logs) - fair))
    if sums.exposure is not None:
        return found
    # The average of values from 0 to 2, one for each decision: they vary no more than that.
    return found._replace(reach=found.reach + NORMAL * (regret * (2 - regret) / decisions) ** 0.5)


def noise_of(known: Known, apart: Apart, shown: Shown | None = None) -> Noise:
    """Return what is not known of a regret, by drawing what the means could be, and the shows.

    A system that is fair for the means as they were found shows the distance to what is fair for
    means that are drawn about them: `apart`. And the true regret is no farther from the one that
    was found than what is fair for the true means is from what is fair for those (the triangle inequality).
    """
    generator = np.random.default_rng(0)  # the same log has the same floor
    found, possible = (
        (_found_again(known, generator), _possible(known, generator))
        if not known.rated
        else (np.tile(known.merits.means, (number, 1)) for number in (FLOORS, DRAWS))
    )
    floors = [apart(known.logs(row)) for row in found]
    reaches = [np.abs(apart(known.logs(row))).sum() for row in possible]
    if shown is not None:
        floors = [one + shown.other(shown.fair, generator) for one in floors]
        reaches = [one + np.abs(shown.other(shown.shares, generator)).sum() for one in reaches]
    floor = np.mean([np.abs(one).sum() for one in floors])
    return Noise(float(floor), float(np.sort(reaches)[-SURE]))


def _found_again(known: Known, generator: np.random.Generator) -> Matrix:
    """Draw means as they could have been found, had those that were found been true.

    Few rewards that happen to be alike would vary: two more that vary as all do count with them.
    """
    sums, (low, high) = known.sums, known.ends
    total, second = scaled(sums.reward_sums, sums.squares, sums.rewards, low, high)
    counts = np.maximum(sums.rewards, 1.0)
    mean = (total.sum() + 1) / (sums.rewards.sum() + MORE)
    own = np.maximum(second - total**2 / counts, 0.0)
    variances = (own + MORE * mean * (1 - mean)) / (counts + MORE)
    errors = (high - low) * np.sqrt(variances / counts) / known.looked
    errors = np.where(sums.rewards > 0, errors, 0.0)  # those without rewards stay what is guessed
    drawn: Matrix = ndtri(_spread_out(FLOORS, counts.size, generator))
    return known.merits.means + errors * drawn


def _possible(known: Known, generator: np.random.Generator) -> Matrix:
    """Draw means that could be true, from the farther ends of exact intervals for coins.

    Rewards that vary less than a coin's count as more of them: as many as would vary so little.
    An arm without rewards may have any mean: here one of the ends.
    """
    sums, (low, high) = known.sums, known.ends
    total, second = scaled(sums.reward_sums, sums.squares, sums.rewards, low, high)
    counts = np.maximum(sums.rewards, 1.0)
    coin = np.maximum(total - total**2 / counts, 0.0)
    own = (np.maximum(second - total**2 / counts, 0.0) * counts + MORE * coin) / (counts + MORE)
    more = sums.rewards / counts * np.where(coin > ALIKE, coin / np.maximum(own, ALIKE), 1.0)
    hits, misses = total * more, (sums.rewards - total) * more
    chance = _spread_out(DRAWS, counts.size, generator)
    least, most = _ends(hits, misses, chance), 1 - _ends(misses, hits, 1 - chance)
    return low + (high - low) * np.where(chance < 0.5, least, most) / known.looked


def _ends(hits: Vector, misses: Vector, chance: Matrix) -> Matrix:
    """Return below what the mean of coins is with a chance, at most: 0 where none was a hit."""
    found = betaincinv(np.maximum(hits, ALIKE), np.maximum(misses, 0.0) + 1, chance)
    return np.where(hits > ALIKE, found, 0.0)


def _spread_out(draws: int, arms: int, generator: np.random.Generator) -> Matrix:
    """Draw chances, of each arm one from every part of all that there are."""
    order = generator.permuted(np.tile(np.arange(draws), (arms, 1)), axis=1).T
    return np.asarray((order + generator.random((draws, arms))) / draws)
