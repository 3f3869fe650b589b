"""Runs until decided: how often claims may be looked at, and what that costs."""

from __future__ import annotations

from collections.abc import Sequence

from fairx import rules

from .claim import DECIDED, NOT_RUN, Claim
from .verdicts import corrected

LOOKS = 5


def looks(first: int, cap: int) -> list[int]:
    """Return the numbers of runs to look at, five from `first` to `cap`, evenly on a log scale.

    They are fixed before the first look, and no two are the same. Each has a fifth of alpha, so that by
    the union bound the chance of a wrong verdict at any of them is at most alpha, whatever is between the
    looks, for every statistic whose interval covers at a fixed number of runs.

    Examples
    --------
    >>> looks(10, 200), looks(10, 1000)
    ([10, 21, 45, 95, 200], [10, 32, 100, 316, 1000])
    """
    rules.count("the cap of --decide", cap, low=first + LOOKS - 1)
    found = [first]
    for look in range(1, LOOKS):
        even, room = first * (cap / first) ** (look / (LOOKS - 1)), LOOKS - 1 - look
        found.append(min(max(round(even), found[-1] + 1), cap - room))
    return found


def settled(before: Sequence[Claim], now: Sequence[Claim]) -> list[Claim]:
    """Return the claims after another look: one that was decided stays so."""
    return corrected(
        [
            old if old.verdict in DECIDED or new.verdict == NOT_RUN else new
            for old, new in zip(before, now, strict=True)
        ]
        if before
        else now
    )
