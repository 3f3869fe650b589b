"""Which group each arm is in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NO_GROUP = "(no group)"


def grouped(arms: list[Any], groups: Mapping[Any, str]) -> tuple[list[str | None], list[str]]:
    """Return the group of each arm, and all groups; arms are matched by what they read as.

    Examples
    --------
    >>> grouped([1, 2], {"1": "first"})
    (['first', '(no group)'], ['(no group)', 'first'])
    """
    named = {str(arm): str(group) for arm, group in groups.items()}
    there = {str(arm) for arm in arms}
    if groups and there.isdisjoint(named):
        first = next(iter(named))
        raise ValueError(f"groups must name arms of the log, not {first!r}: none of them is there")
    group_of = [named.get(str(arm), NO_GROUP) if groups else None for arm in arms]
    return group_of, sorted({group for group in group_of if group is not None})
