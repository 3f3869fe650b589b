"""Systems that are fair at every decision while the world moves, and unfair ones that hide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fairx import fair_exposure
from fairx.auditing.implied import Decisions
from fairx.auditing.slates.pages import Slates
from fairx.slates import draw_slate
from fairx.types import Indices, Matrix, Vector

Merits = Callable[[Any], Any]  # of means, up to a factor
Maker = Callable[[np.random.Generator, int], tuple[Matrix, Matrix]]  # chances and means


class Played(NamedTuple):
    """Decisions in their order: the chances of all arms (0 where not on offer), and what came."""

    chances: Matrix
    arms: Indices
    rewards: Vector


def exponential(steepness: float) -> Merits:
    return lambda means: np.exp(steepness * (means - 1))


def shifted(offset: float) -> Merits:
    return lambda means: means + offset


def fair(merits: Merits, means: Any) -> Any:
    found = merits(means)
    return found / found.sum(axis=-1, keepdims=True)


def played(
    rng: np.random.Generator, chances: Matrix, means: Matrix, deviation: float | None = None
) -> Played:
    """Draw arms and rewards: of a coin, or normal ones cut to 0..1."""
    drawn = (rng.random(len(chances))[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
    arms = np.minimum(drawn, chances.shape[1] - 1)
    mean = means[np.arange(len(arms)), arms]
    if deviation is None:
        return Played(chances, arms, (rng.random(arms.size) < mean).astype(float))
    noise = deviation * rng.standard_normal(arms.size)
    return Played(chances, arms, np.clip(mean + noise, 0, 1))


def decisions(some: Played) -> Decisions:
    """Return what was played as the audit takes it."""
    offered = some.chances > 0
    _, arms = np.nonzero(offered)
    sizes = offered.sum(axis=1)
    starts = np.cumsum(sizes) - sizes
    before = np.cumsum(offered, axis=1)[np.arange(len(sizes)), some.arms] - 1
    return Decisions(some.rewards, starts, starts + before, arms, some.chances[offered])


def steady(arms: int, merits: Merits) -> Maker:
    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        means = np.broadcast_to(rng.uniform(0.2, 0.8, arms), (rounds, arms))
        return fair(merits, means), means

    return make


def daily(merits: Merits, swing: float = 0.4) -> Maker:
    """One arm whose mean goes up and down by the hour, beside one that stays."""

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        hour = 2 * np.pi * np.arange(rounds) / 1000 + rng.uniform(0, 6)
        means = np.column_stack([0.5 + swing * np.sin(hour), np.full(rounds, 0.5)])
        return fair(merits, means), means

    return make


def contexts(merits: Merits) -> Maker:
    """Two kinds of readers with tastes of their own, who are told apart."""

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        first = rng.random(rounds) < 0.5
        means = np.where(first[:, None], [0.8, 0.2], [0.2, 0.5])
        return fair(merits, means), means

    return make


def walking(arms: int, merits: Merits) -> Maker:
    """Means that walk at random, and jump at times."""

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        steps = rng.normal(0, 0.02, (rounds, arms)) * (rng.random((rounds, 1)) < 0.3)
        steps += rng.normal(0, 0.5, (rounds, arms)) * (rng.random((rounds, 1)) < 0.001)
        means = 0.5 + 0.45 * np.sin(rng.uniform(0, 6, arms) + np.cumsum(steps, axis=0))
        return fair(merits, means), means

    return make


def waves(arms: int, merits: Merits) -> Maker:
    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        phase = np.arange(arms) * rng.uniform(0, 6)
        means = 0.5 + 0.45 * np.sin(2 * np.pi * np.arange(rounds)[:, None] / 400 + phase)
        return fair(merits, means), means

    return make


def turns(arms: int, merits: Merits) -> Maker:
    """One arm after the other is good for a while, so that all others have next to no chance."""

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        now = np.arange(rounds)[:, None] // 200 % arms
        means = np.where(now == np.arange(arms), 0.97, 0.05)
        return fair(merits, means), means

    return make


def wearing(arms: int, merits: Merits) -> Maker:
    """One arm wears out, beside others that stay."""

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        means = np.full((rounds, arms), 0.5)
        means[:, 0] = np.linspace(0.8, 0.2, rounds)
        return fair(merits, means), means

    return make


def pools(arms: int, merits: Merits) -> Maker:
    """Candidates that change, two of which are always there."""

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        means = np.broadcast_to(rng.uniform(0.2, 0.8, arms), (rounds, arms))
        offered = rng.random((rounds, arms)) < 0.4
        offered[:, :2] = True
        merit = merits(means) * offered
        return merit / merit.sum(axis=1, keepdims=True), means

    return make


def floored(arms: int, merits: Merits, floor: float) -> Maker:
    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        chances, means = waves(arms, merits)(rng, rounds)
        return floor + (1 - arms * floor) * chances, means

    return make


def cut(maker: Maker, arm: int, share: Any) -> Maker:
    """One arm has a part of its share; what it lacks the others have in proportion.

    `share` may be a function of the chances and the means of all decisions: of their contexts or times.
    """

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        chances, means = maker(rng, rounds)
        part = np.reshape(share(chances, means) if callable(share) else share, (-1, 1))
        own = chances[:, [arm]]
        found = chances * (1 - part * own) / (1 - own)
        found[:, [arm]] = part * own
        return found, means

    return make


def spaced(arms: int, merits: Merits) -> Maker:
    """Means from .3 to .7 that stay."""

    def make(rng: np.random.Generator, rounds: int) -> tuple[Matrix, Matrix]:
        means = np.broadcast_to(np.linspace(0.3, 0.7, arms), (rounds, arms))
        return fair(merits, means), means

    return make


def learning(
    rng: np.random.Generator, runs: int, rounds: int, arms: int, merits: Merits
) -> list[Played]:
    """Let FairX-TS learn, several runs at once: it is fair for means drawn from what it believes."""
    means = rng.uniform(0.2, 0.8, (runs, arms))
    counts, sums = np.zeros((runs, arms)), np.zeros((runs, arms))
    every, each = np.arange(runs), []
    for _ in range(rounds):
        believed = (sums + 0.5) / (counts + 1)
        drawn = believed + 0.5 * rng.standard_normal((runs, arms)) / np.sqrt(counts + 1)
        chances = fair(merits, np.clip(drawn, 0, 1))
        shown, rewards = _drawn(rng, chances, means)
        counts[every, shown] += 1
        sums[every, shown] += rewards
        each.append((chances, shown, rewards))
    return _runs(each)


def answering(
    rng: np.random.Generator, runs: int, rounds: int, merits: Merits, answer: str
) -> list[Played]:
    """Let two means answer to what came before, several runs at once; the system is fair to them.

    "adversarial": the rewards are unsure while the first arm seems to lack, and sure once it seems
    to have much, so that sums stay where they are largest. "bored": an arm that was shown is worth
    less, and recovers. "delayed": a mean follows the reward of fifty decisions ago.
    """
    every = np.arange(runs)
    each: list[tuple[Matrix, Indices, Vector]] = []
    means, gone = np.full((runs, 2), 0.5), np.zeros(runs)
    for now in range(rounds):
        chances = fair(merits, means)
        shown, rewards = _drawn(rng, chances, means)
        each.append((chances, shown, rewards))
        if answer == "adversarial":
            sign = np.where(shown == 0, chances[:, 1], -chances[:, 0])
            gone += sign * (rewards - means[every, shown])
            level = np.where(gone > np.sqrt(now + 1.0), 0.97, 0.5)
            means = np.column_stack([level, np.clip(level - 0.02, 0, 1)])
        elif answer == "bored":
            means = means + 0.02 * (0.8 - means)
            means[every, shown] *= 0.9
        elif now >= 50:
            _, before, came = each[now - 50]
            means = np.full((runs, 2), 0.5)
            means[every, before] = 0.2 + 0.6 * came
    return _runs(each)


def _drawn(rng: np.random.Generator, chances: Matrix, means: Matrix) -> tuple[Indices, Vector]:
    """Return the arm that each run shows, and the reward of a coin."""
    runs, arms = len(chances), chances.shape[1]
    drawn = (rng.random(runs)[:, None] > chances.cumsum(axis=1)).sum(axis=1)
    shown = np.minimum(drawn, arms - 1)
    return shown, (rng.random(runs) < means[np.arange(runs), shown]).astype(float)


def _runs(each: list[tuple[Matrix, Indices, Vector]]) -> list[Played]:
    whole = [np.array(part) for part in zip(*each, strict=True)]
    return [Played(*(part[:, run] for part in whole)) for run in range(whole[1].shape[1])]


def paged(
    rng: np.random.Generator, means: Matrix, weights: Any, merit: Any, lacks: float = 0.0,
    clicks: bool = False,
) -> Slates:  # fmt: skip
    """Fill pages that are fair to these means; the first arm is taken to be worth less by `lacks`.

    A click is a reward where a place was looked at, which its weight is the chance of.
    """
    (rounds, arms), weights = means.shape, np.asarray(weights, float)
    seen = means - lacks * (np.arange(arms) == 0)
    kinds, kind = np.unique(seen, axis=0, return_inverse=True)
    exposures = np.array([fair_exposure(merit, row, weights) for row in kinds])[kind]
    shown = np.array([draw_slate(row, weights, rng).arms for row in exposures])
    mean = np.take_along_axis(means, shown, axis=1) * (weights if clicks else 1.0)
    rewards = (rng.random(shown.shape) < mean).astype(float)
    rows = np.arange(rounds)
    return Slates(
        rows * arms, np.tile(np.arange(arms), rounds), exposures.ravel(), rows * weights.size,
        (shown + rows[:, None] * arms).ravel(), np.tile(weights, rounds), rewards.ravel(),
    )  # fmt: skip
