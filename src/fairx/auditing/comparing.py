"""Two logs, or two periods of one: who gained and who lost, of what they earn."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any, NamedTuple

from .once import Look
from .result import Audit

Range = tuple[float, float, float]  # an estimate and its interval


class Change(NamedTuple):
    """One arm in two logs: exposure over what it earns, beside the others or of its share."""

    arm: Any
    before: float
    before_low: float
    before_high: float
    after: float
    after_low: float
    after_high: float
    change: float  # after / before
    change_low: float
    change_high: float
    verdict: str  # gained, lost or unclear
    by: str  # beside: by pseudo-rewards in both logs; share: by the box


def changes(before: Audit, after: Audit) -> tuple[Change, ...]:
    """Return the change of each arm that is in both audits.

    Intervals hold together with a chance of 1 less the alphas of both audits, at all looks: give
    each of them half of what is to be the chance of an error.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairx import Exponential
    >>> from fairx.auditing import audit
    >>> logs = [
    ...     pd.DataFrame({"arm": ["a"] * n + ["b"] * (1000 - n), "reward": [0.0, 1.0] * 500})
    ...     for n in (800, 200)
    ... ]
    >>> first, second = (audit(log, Exponential(1), alpha=0.025) for log in logs)
    >>> [(one.arm, round(one.change, 2), one.verdict) for one in changes(first, second)]
    [('a', 0.25, 'lost'), ('b', 4.0, 'gained')]
    """
    for one in (before, after):
        if one.look == Look(True, "bh").words:
            raise ValueError(
                "correction must be 'bonferroni', not 'bh', where two logs are compared: "
                "ranges must hold for all arms together"
            )
    beside = bool(before.beside) and bool(after.beside)
    ours, theirs = (_ranges(one, beside) for one in (before, after))
    by = "beside" if beside else "share"
    return tuple(
        _change(arm, ours[arm], theirs[arm], by)
        for arm in (line.arm for line in after.lines)
        if arm in ours and arm in theirs
    )


def write_changes(found: tuple[Change, ...], path: Path) -> None:
    """Write one line per arm."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Change._fields)
        table.writerows(found)


def _change(arm: Any, before: Range, after: Range, by: str) -> Change:
    low, high = _divided(after[1], before[2]), _divided(after[2], before[1])
    verdict = "gained" if low > 1 else "lost" if high < 1 else "unclear"
    return Change(arm, *before, *after, _divided(after[0], before[0]), low, high, verdict, by)


def _ranges(audit: Audit, beside: bool) -> dict[Any, Range]:
    """Return what each arm had, unknown ends as what they can be at most."""
    if not beside:
        return {line.arm: (line.ratio, line.ratio_low, line.ratio_high) for line in audit.lines}
    known = zip(audit.lines, audit.beside, strict=True)
    return {
        line.arm: (one.beside, one.beside_low or 0.0, _or_more(one.beside_high))
        for line, one in known
        if one.beside is not None
    }


def _or_more(value: float | None) -> float:
    return math.inf if value is None else value


def _divided(one: float, other: float) -> float:
    if math.isinf(one) or not other:
        return math.inf
    return one / other
