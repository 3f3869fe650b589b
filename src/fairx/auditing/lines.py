"""Exposure beside fair share, arm by arm or group by group, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairx.auditing.always_valid import Intervals, always_valid
from fairx.types import Indices, Vector

from .merits import Merits
from .result import Line, Sensitivity
from .shares import fair_shares, share_box, summed
from .sums import LogSums

POWERS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)  # of the merit: 0 makes all arms equal
ITSELF = POWERS.index(1.0)
ROUNDING = 1e-9
NO_GROUP = "(no group)"


def lines(
    sums: LogSums, merits: Merits, groups: Indices, names: list[Any], alpha: float
) -> tuple[Line, ...]:
    """Return a line for each group of arms; `alpha` is that of one interval of exposure."""
    exposure, known = _exposure(sums, groups, len(names), alpha)
    shares = fair_shares(sums.pools, merits.logs)
    fair = summed(groups, shares, len(names))
    boxes = [share_box(sums.pools, raised(merits.log_box, p), groups) for p in POWERS]
    box = boxes[ITSELF]
    with np.errstate(divide="ignore", invalid="ignore"):  # shares below the smallest number
        ratios = (exposure / fair, known.low / box.high, known.high / box.low)
    columns = (
        summed(groups, sums.shows, len(names)).astype(np.int64),
        *(exposure, *known, fair, *box),
        *(exposure - fair, known.low - box.high, known.high - box.low),
        *(np.nan_to_num(ratio, nan=1.0) for ratio in ratios),
    )
    table = zip(names, *(column.tolist() for column in columns), strict=True)
    verdicts = list(zip(*(side_of(known, each) for each in boxes), strict=True))
    bounds: Any = [(None, None)] * len(names)
    if merits.log_bounds is not None:
        wide = share_box(sums.pools, merits.log_bounds, groups)
        bounds = zip(*(end.tolist() for end in wide), strict=True)
    return tuple(
        Line._make((*row, found[ITSELF], "box", found[ITSELF], None, None, *ends, found))
        for row, ends, found in zip(table, bounds, verdicts, strict=True)
    )


def sensitivity(
    sums: LogSums, merits: Merits, groups: Indices, found: tuple[Line, ...]
) -> tuple[Sensitivity, ...]:
    """Return how the verdicts change when the merit is raised to a power."""
    exposure = np.array([line.exposure for line in found])
    rows = []
    for i, power in enumerate(POWERS):
        counts = Counter(line.verdicts[i] for line in found)
        fair = summed(groups, fair_shares(sums.pools, power * merits.logs), len(found))
        apart = np.abs(exposure - fair).sum()
        numbers = (counts["under"], counts["over"], counts["unclear"])
        rows.append(Sensitivity(power, *numbers, float(apart)))
    return tuple(rows)


def _exposure(
    sums: LogSums, groups: Indices, number: int, alpha: float
) -> tuple[Vector, Intervals]:
    """Return average probabilities, which are known, or shares of shows with their interval."""
    decisions = sums.pools.decisions.sum()
    if sums.exposure is not None:
        exposure = summed(groups, sums.exposure, number) / decisions
        return exposure, Intervals(exposure, exposure)
    shows = summed(groups, sums.shows, number)
    return shows / decisions, always_valid(shows, np.full(number, decisions), alpha)


def side_of(exposure: Intervals, fair: Intervals) -> list[str]:
    """Say on which side of all fair shares all of the exposure is."""
    under = exposure.high < fair.low - ROUNDING
    over = exposure.low > fair.high + ROUNDING
    found: list[str] = np.select([under, over], ["under", "over"], "unclear").tolist()
    return found


def raised(logs: Intervals, power: float) -> Intervals:
    """Return the box of merits to a power."""
    return Intervals(power * logs.low, power * logs.high)


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
