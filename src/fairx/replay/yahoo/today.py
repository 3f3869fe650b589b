"""One or more days of the Yahoo! Today Module, as columns."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairx.replay.uniform_log import UniformLog
from fairx.types import Indices, Matrix

WIDTH = 6  # features of a user, and of an article
CITATION = (
    "Li, Chu, Langford and Schapire, A contextual-bandit approach to personalized news article "
    "recommendation, WWW 2010; Yahoo! Webscope R6A"
)
# The made-up logs of `make_yahoo` are of May 2109, so that no copy of one passes for a real one.
MADE_UP = 4_000_000_000
CHANGED = "article: other features later, ignored"
SETTINGS = ("mab", "linear")


class About(NamedTuple):
    """What a report says of a log."""

    checksum: str
    counts: Mapping[str, int]
    synthetic: bool  # made up by `make_yahoo`
    source: str
    citation: str = CITATION


class TodayLog(NamedTuple):
    """Events: an article, drawn uniformly from a pool, was displayed to a user, who may click."""

    times: Indices  # by event, in seconds since 1970
    pool: npt.NDArray[np.int32]  # by event: which of the pools
    displayed: npt.NDArray[np.int32]  # by event: arm number, an index of `articles`
    clicks: npt.NDArray[np.uint8]  # by event
    users: npt.NDArray[np.float32]  # by event: features 1 to 6
    pools: tuple[tuple[int, ...], ...]  # arm numbers, in order
    articles: tuple[int, ...]  # their names, in order
    features: Matrix  # by article: features 1 to 6
    counts: Mapping[str, int]  # lines, events, what was mended and what was skipped, by kind
    checksum: str
    source: str = ""

    @property
    def about(self) -> About:
        """What a report says of it."""
        made_up = bool((self.times > MADE_UP).any())
        return About(self.checksum, self.counts, made_up, self.source)

    def log(self, setting: str = "mab") -> UniformLog:
        """Return what `replay` takes: "mab" without contexts, or "linear".

        Contexts are the 36 products of user and article features. The truth is the click rate of
        each article over all these events, or the least-squares fit of the clicks.
        """
        if setting not in SETTINGS:
            raise ValueError(f"setting must be one of {', '.join(SETTINGS)}, not {setting!r}")
        known: Any = {}
        if setting == "linear":
            known = {"users": self.users, "items": self.features}
        return UniformLog(self.pools, self.displayed, self.clicks, self.pool, **known)


def checked_sum(log: TodayLog) -> str:
    """Return the SHA-256 of all that a replay depends on."""
    digest = hashlib.sha256(repr((log.pools, log.articles)).encode())
    for part in (log.features, log.times, log.pool, log.displayed, log.clicks, log.users):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def joined_about(days: Sequence[About]) -> About:
    """Return what a report says of several days."""
    if len(days) == 1:
        return days[0]
    return About(
        checksum=hashlib.sha256("".join(day.checksum for day in days).encode()).hexdigest(),
        counts=sum((Counter(day.counts) for day in days), Counter()),
        synthetic=any(day.synthetic for day in days),
        source=", ".join(day.source for day in days),
    )


def joined(days: Sequence[TodayLog]) -> TodayLog:
    """Return several days as one log; an article keeps the features of its first day."""
    if len(days) == 1:
        return days[0]
    about = joined_about([day.about for day in days])
    articles = tuple(sorted({article for day in days for article in day.articles}))
    pools: dict[tuple[int, ...], int] = {}
    features = np.zeros((len(articles), WIDTH))
    pool, displayed, changed = [], [], 0
    for day in reversed(days):
        features[np.searchsorted(articles, day.articles)] = day.features
    for day in days:
        arms = np.searchsorted(articles, day.articles).astype(np.int32)
        changed += int((features[arms] != day.features).any(axis=1).sum())
        moved = [tuple(arms[list(members)].tolist()) for members in day.pools]
        numbers = [pools.setdefault(members, len(pools)) for members in moved]
        pool.append(np.array(numbers, np.int32)[day.pool])
        displayed.append(arms[day.displayed])
    return TodayLog(
        times=np.concatenate([day.times for day in days]),
        pool=np.concatenate(pool),
        displayed=np.concatenate(displayed),
        clicks=np.concatenate([day.clicks for day in days]),
        users=np.concatenate([day.users for day in days]),
        pools=tuple(pools),
        articles=articles,
        features=features,
        counts=Counter(about.counts) + Counter({CHANGED: changed}),
        checksum=about.checksum,
        source=about.source,
    )
