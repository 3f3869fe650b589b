"""Lines of R6A, one event each, with every quirk that is known of them counted.

    TIME DISPLAYED CLICK |user 2:v 3:v 4:v 5:v 6:v 1:v |ARTICLE 2:v 3:v 4:v 5:v 6:v 1:v |ARTICLE ...

A pool is written out in full on thousands of lines: it is parsed once, and then known by its text.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from typing import NamedTuple

import numpy as np

from .today import CHANGED, WIDTH, TodayLog

Features = tuple[float, ...]
ORDER = [b"2", b"3", b"4", b"5", b"6", b"1"]  # in which features are written
CLICKS = {b"0": 0, b"1": 1}
MANY = 20_000  # texts of pools (about 1.5 kB each) before they are forgotten
NO_EVENT = "skipped: no event"
NO_NUMBERS = "skipped: {} features that are no numbers"
MENDED = ("missing features, filled up", "unknown features, ignored")


class Unusable(ValueError):
    """A line that is no event; its text is the kind that it is counted as."""


class Pool(NamedTuple):
    """A pool as it is written on many lines."""

    number: int
    members: dict[bytes, int]  # the articles, by name


class Lines:
    """Takes lines, and becomes a log."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: Counter[str] = Counter()
        self.times, self.clicks = array("q"), array("B")
        self.pool, self.displayed, self.users = array("i"), array("i"), array("f")
        self.texts: dict[bytes, Pool] = {}
        self.pools: dict[tuple[int, ...], int] = {}
        self.articles: dict[int, int] = {}  # by name, in the order of their first line
        self.features: list[Features] = []

    def take(self, lines: list[bytes]) -> None:
        """Take whole lines."""
        texts, counts = self.texts, self.counts
        counts["lines"] += len(lines)
        for line in lines:
            try:
                head, user, text = line.split(b"|", 2)
                time, displayed, click = head.split()
                known = texts.get(text) or self._pool(text)
                article, clicked = known.members[displayed], CLICKS[click]
                features = self._user(user)
                self.times.append(int(time))
            except (ValueError, KeyError, OverflowError) as error:
                counts[self._kind(line, error)] += 1
                continue
            self.pool.append(known.number)
            self.displayed.append(article)
            self.clicks.append(clicked)
            self.users.extend(features)

    def take_last(self, line: bytes) -> None:
        """Take what follows the last end of a line: it is whole if its pool is one that is known."""
        if not line.strip() or line.split(b"|", 2)[-1] in self.texts:
            self.take([line] if line else [])
        else:
            self.counts.update(["lines", "skipped: partial last line"])

    def log(self) -> TodayLog:
        """Return all events taken so far, with the articles in order."""
        users = np.array(self.users, np.float32).reshape(-1, WIDTH)
        good = np.isfinite(users).all(axis=1)
        self.counts.update(
            {NO_NUMBERS.format("user"): int((~good).sum()), "events": int(good.sum())}
        )
        used, pool = np.unique(np.array(self.pool, np.int32)[good], return_inverse=True)
        every = list(self.pools)
        pools = [every[number] for number in used.tolist()]
        arms = {arm for members in pools for arm in members}
        names = sorted(name for name, arm in self.articles.items() if arm in arms)
        moved = {self.articles[name]: arm for arm, name in enumerate(names)}
        lookup = np.array([moved.get(arm, -1) for arm in self.articles.values()], np.int32)
        return TodayLog(
            times=np.array(self.times, np.int64)[good],
            pool=pool.astype(np.int32),
            displayed=lookup[np.array(self.displayed, np.int32)[good]],
            clicks=np.array(self.clicks, np.uint8)[good],
            users=users[good],
            pools=tuple(tuple(moved[arm] for arm in members) for members in pools),
            articles=tuple(names),
            features=np.array([self.features[arm] for arm in moved]),
            counts={kind: count for kind, count in self.counts.items() if count},
            checksum="",
        )

    def _pool(self, text: bytes) -> Pool:
        """Return a pool that is met for the first time, or again after it was forgotten."""
        parts = [part.split() for part in text.split(b"|")]
        if not all(parts):
            raise Unusable(NO_EVENT)
        names = [int(part[0]) for part in parts]
        if len(set(names)) < len(names):
            raise Unusable("skipped: article twice in its pool")
        found = [parsed(part[1:], "article") for part in parts]
        arms = [self._article(name, *one) for name, one in zip(names, found, strict=True)]
        members = tuple(arm for _, arm in sorted(zip(names, arms, strict=True)))
        number = self.pools.setdefault(members, len(self.pools))
        if len(self.texts) >= MANY:
            self.texts.clear()
        pool = Pool(number, dict(zip((part[0] for part in parts), arms, strict=True)))
        self.texts[text] = pool
        return pool

    def _article(self, name: int, features: Features, quirks: list[str]) -> int:
        """Return the arm number of an article; its quirks are counted once."""
        if name not in self.articles:
            self.articles[name] = len(self.articles)
            self.features.append(features)
            self.counts.update(f"article: {quirk}" for quirk in quirks)
        elif self.features[self.articles[name]] != features:
            self.counts[CHANGED] += 1
        return self.articles[name]

    def _user(self, text: bytes) -> Features:
        """Return the features of a user; that they are finite is seen to at the end."""
        tokens = text.replace(b":", b" ").split()
        if tokens[1::2] == ORDER and len(tokens) == 2 * WIDTH + 1 and tokens[0] == b"user":
            two, three, four, five, six, one = map(float, tokens[2::2])
            return one, two, three, four, five, six
        name, *rest = text.split() or [b""]
        if name != b"user":
            raise Unusable(NO_EVENT)
        features, quirks = parsed(rest, "user")
        self.counts.update(f"user: {quirk}" for quirk in quirks)
        return features

    def _kind(self, line: bytes, error: Exception) -> str:
        """Return what an unusable line is counted as; refuse the whole file if it is another's."""
        fields = line.split(None, 2)
        if not fields:
            return "skipped: blank line"
        if len(fields) > 1 and fields[1].startswith(b"id-"):
            raise ValueError(
                f"{self.name} must be a log of R6A (ydata-fp-td-clicks-v1_0), not of R6B "
                "(ydata-fp-td-clicks-v2_0), whose users and articles have other features"
            )
        return str(error) if isinstance(error, Unusable) else _kind_of_event(line, self.texts)


def _kind_of_event(line: bytes, texts: dict[bytes, Pool]) -> str:
    """Return what is wrong with a line whose features are well."""
    head, _, rest = line.partition(b"|")
    fields, pool = head.split(), texts.get(rest.partition(b"|")[2])
    if len(fields) != 3 or pool is None or not fields[0].isdigit():
        return NO_EVENT
    if fields[2] not in CLICKS:
        return "skipped: click that is neither 0 nor 1"
    return NO_EVENT if fields[1] in pool.members else "skipped: displayed article not in its pool"


def parsed(tokens: list[bytes], whose: str) -> tuple[Features, list[str]]:
    """Return features 1 to 6 by their index, and which quirks were mended.

    Examples
    --------
    >>> parsed([b"7:1.000000"], "article")
    ((1.0, 0.0, 0.0, 0.0, 0.0, 0.0), ['missing features, filled up', 'unknown features, ignored'])
    """
    found: dict[int, float] = {}
    for token in tokens:
        number, _, text = token.partition(b":")
        try:
            index, value = int(number), float(text)
        except ValueError:
            raise Unusable(NO_NUMBERS.format(whose)) from None
        if not math.isfinite(value):
            raise Unusable(NO_NUMBERS.format(whose))
        if index in found:
            raise Unusable(f"skipped: {whose} feature twice")
        found[index] = value
    known = range(1, WIDTH + 1)
    is_so = not found.keys() >= set(known), not found.keys() <= set(known)
    features = tuple(found.get(index, 1.0 if index == 1 else 0.0) for index in known)
    return features, [quirk for quirk, there in zip(MENDED, is_so, strict=True) if there]
