"""Made-up days: articles come and go, and their click rates drift.

Twenty or so shelves hold one article after the other. The click rate of an article has a level of its
own, wears off with age, follows the time of day, and depends on the user by a bilinear form.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.types import Indices, Matrix, Vector

from .today import WIDTH, TodayLog, checked_sum

DAYS, SECONDS = 10, 86_400
FIRST_SECOND = 4_397_241_600  # in 2109: see `today.MADE_UP`
SHELVES, LIFE, GAP = 21, (0.3, 1.2), (0.0, 0.06)  # days of an article, and until the next one
FIRST_ARTICLE, STEP = 109_453, 3  # the 26th is 109528, which has no features but a constant
BARE = 25
REUSED = 0.42  # share of the articles that have the features of another
CLICK_RATE = 0.03566  # of the real log
LEVELS, WEAR, TIDE, TASTE = 0.5, 0.7, 0.3, 0.6
LOWEST, HIGHEST = 0.002, 0.9


class Articles(NamedTuple):
    """All articles of all days, in order of their first moment."""

    names: Indices
    starts: Vector  # in days
    ends: Vector
    features: Matrix
    levels: Vector
    phases: Vector
    tastes: Matrix  # by article and feature of a user


def made_up(day: int, events: int, seed: int) -> TodayLog:
    """Return a day, from 1 to 10, which does not depend on how many others there are.

    Examples
    --------
    >>> log = made_up(day=1, events=10_000, seed=1)
    >>> len(log.articles), len(log.pools), float(log.clicks.mean().round(3)), log.about.synthetic
    (43, 46, 0.033, True)
    """
    articles = _articles(np.random.default_rng([seed, 0]))
    rng = np.random.default_rng([seed, day])
    moments = np.sort(rng.random(events)) + day - 1
    members, pool = _pools(articles, moments, day)
    order = np.argsort(~members, axis=1, kind="stable")  # the members of each pool come first
    positions = (rng.random(events) * members.sum(axis=1)[pool]).astype(np.int64)
    displayed = order[pool, positions]
    users = memberships(rng, events, 0.2)
    rates = _click_rates(articles, displayed, moments, users)
    used = np.flatnonzero(members.any(axis=0))
    arms = np.cumsum(members.any(axis=0)) - 1
    log = TodayLog(
        times=(FIRST_SECOND + moments * SECONDS).astype(np.int64),
        pool=pool.astype(np.int32),
        displayed=arms[displayed].astype(np.int32),
        clicks=(rng.random(events) < rates).astype(np.uint8),
        users=users.astype(np.float32),
        pools=tuple(tuple(arms[np.flatnonzero(row)].tolist()) for row in members),
        articles=tuple(articles.names[used].tolist()),
        features=articles.features[used],
        counts={"lines": events, "events": events},
        checksum="",
        source=f"made up from seed {seed}",
    )
    return log._replace(checksum=checked_sum(log))


def memberships(rng: np.random.Generator, rows: int, concentration: float) -> Matrix:
    """Return a constant and five shares, in millionths."""
    shares = rng.dirichlet(np.full(WIDTH - 1, concentration), rows)
    return np.column_stack([np.ones(rows), np.round(shares, 6)])


def _articles(rng: np.random.Generator) -> Articles:
    shape = (SHELVES, round(2 * DAYS / LIFE[0]))
    lives, gaps = rng.uniform(*LIFE, shape), rng.uniform(*GAP, shape)
    starts = (
        np.cumsum(lives + gaps, axis=1)
        - lives
        - gaps
        - rng.uniform(0, 1, (SHELVES, 1)) * lives[:, :1]
    )
    kept = np.argsort(starts, axis=None)
    kept = kept[starts.ravel()[kept] < DAYS]
    count = kept.size
    features = memberships(rng, count, 0.5)
    for article in np.flatnonzero(rng.random(count) < REUSED):
        features[article] = features[rng.integers(article + 1)]
    features[BARE, 1:] = 0.0
    form = rng.standard_normal((WIDTH - 1, WIDTH - 1))
    return Articles(
        names=FIRST_ARTICLE + STEP * np.arange(count),
        starts=starts.ravel()[kept],
        ends=(starts + lives).ravel()[kept],
        features=features,
        levels=np.exp(LEVELS * rng.standard_normal(count)),
        phases=rng.random(count),
        tastes=TASTE * (features[:, 1:] - 0.2) @ form,
    )


def _pools(articles: Articles, moments: Vector, day: int) -> tuple[npt.NDArray[np.bool_], Indices]:
    """Return which articles each pool has, in the order of time, and the pool of each moment."""
    changes = np.concatenate([[day - 1.0], articles.starts, articles.ends])
    changes = np.unique(changes[(changes >= day - 1) & (changes < day)])
    members = (articles.starts <= changes[:, None]) & (changes[:, None] < articles.ends)
    used, pool = np.unique(np.searchsorted(changes, moments, "right") - 1, return_inverse=True)
    return members[used], pool


def _click_rates(articles: Articles, displayed: Indices, moments: Vector, users: Matrix) -> Vector:
    """Return the chance of a click at each moment; on average that of the real log."""
    age = moments - articles.starts[displayed]
    tide = 1 + TIDE * np.sin(2 * np.pi * (moments + articles.phases[displayed]))
    taste = 1 + (users[:, 1:] * articles.tastes[displayed]).sum(axis=1)
    rates = articles.levels[displayed] * np.exp(-WEAR * age) * tide * np.maximum(taste, 0.1)
    found: Vector = np.clip(rates * (CLICK_RATE / rates.mean()), LOWEST, HIGHEST)
    return found
