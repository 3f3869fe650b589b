"""Who got less exposure on pages of several places than their merit earns, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairx import rules
from fairx.auditing.always_valid import Intervals, always_valid
from fairx.auditing.shares import check_floor, gini, summed
from fairx.logs import Log, read
from fairx.merit import Merit, check_conditions
from fairx.types import Indices, Vector

from .result import SlateAudit, SlateLine
from .shares import exposure_box, exposures_of
from .sums import SlateSums, slate_sums

ROUNDING = 1e-9


def audit_slates(
    log: Log | Any,
    merit: Merit,
    *,
    groups: Mapping[Any, str] | None = None,
    alpha: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    columns: Mapping[str, str] | None = None,
    floor: float = 0.0,
) -> SlateAudit:
    """Compare the exposure of each arm on pages of several places with what its merit earns.

    Parameters are those of `audit`. The log has a row for each decision and place, with its weight. `floor`
    is the part of the weight of all places that each arm on offer is due before merit shares out the rest.

    Notes
    -----
    An arm is `under` (`over`) where all of its exposure's interval is below (above) all fair exposures that
    the always-valid box of means allows; else `unclear`. If a log is fair, the chance that any arm is ever
    accused is at most alpha. Exposure is known exactly where `exposures` were logged; else it is the
    weight of the places an arm had, with an interval, and alpha is divided between the two.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairx import Exponential
    >>> rows = {"decision": np.repeat(np.arange(500), 2), "place": [1, 2] * 500}
    >>> shown = {"arm": ["a", "b"] * 500, "weight": [1, 0.5] * 500, "reward": [0.0, 1.0, 1.0, 0.0] * 250}
    >>> found = audit_slates(pd.DataFrame(rows | shown), Exponential(1))
    >>> [(line.arm, round(line.exposure, 3), line.fair_share, line.verdict) for line in found.lines]
    [('a', 0.667, 0.5, 'over'), ('b', 0.333, 0.5, 'under')]
    """
    if not 0 < alpha < 1:
        raise rules.InvalidValue("alpha", f"be between 0 and 1, not {alpha!r}")
    check_conditions(merit, *reward_range)
    found = log if isinstance(log, Log) else read(log, columns)
    sums = _floored(slate_sums(found), rules.number("floor", floor, low=0, high=1))
    least, most = sums.least, sums.most
    if least < reward_range[0] or most > reward_range[1]:
        rule = f"be from {reward_range[0]:g} to {reward_range[1]:g}, not {least:g} to {most:g}"
        raise rules.InvalidValue("rewards", f"{rule}: give their range as reward_range=(low, high)")
    return _judged(found, sums, merit, groups or {}, alpha, reward_range)


def _floored(sums: SlateSums, floor: float) -> SlateSums:
    check_floor(floor, max(kind.arms.size for kind in sums.kinds))
    return sums._replace(kinds=[kind._replace(floor=floor) for kind in sums.kinds])


def _judged(
    log: Log,
    sums: SlateSums,
    merit: Merit,
    groups: Mapping[Any, str],
    alpha: float,
    reward_range: tuple[float, float],
) -> SlateAudit:
    exact, arms = sums.exposures is not None, len(sums.arms)
    given = alpha if exact else alpha / 2
    box = always_valid(sums.reward_sums, sums.rewards, given / arms, *reward_range)
    overall = sums.reward_sums.sum() / max(1.0, sums.rewards.sum())
    means = np.where(sums.rewards > 0, sums.reward_sums / np.maximum(sums.rewards, 1), overall)
    logs, low, high = (_logs(merit, part) for part in (means, *box))
    group_of = [groups.get(arm, "(no group)") for arm in sums.arms]
    labels = sorted(set(group_of)) if groups else []
    each = alpha / 2 / (arms + len(labels))
    numbers = np.array([labels.index(group) for group in group_of]) if labels else np.zeros(0, int)
    fair = _fair(sums, logs)
    by_arm = _lines(sums, fair, Intervals(low, high), np.arange(arms), sums.arms, each)
    shown = np.array([line.exposure for line in by_arm])
    return SlateAudit(
        source=log.source,
        merit=repr(merit),
        floor=sums.kinds[0].floor,
        alpha=alpha,
        lowest_reward=reward_range[0],
        highest_reward=reward_range[1],
        decisions=sums.decisions,
        problems=log.problems(),
        exposure_from="exposures" if exact else "shows",
        lines=by_arm,
        means=means,
        mean_box=box,
        groups=_lines(sums, fair, Intervals(low, high), numbers, labels, each) if labels else (),
        fairness_regret_per_decision=sums.regret(log, logs) if exact else None,
        distance=float(np.abs(shown - fair).sum()),
        gini_exposure=gini(shown),
        gini_fair_share=gini(fair),
        mismatched=_mismatched(sums, alpha),
    )


def _logs(merit: Merit, means: Vector) -> Vector:
    return np.array([merit.log(mean) for mean in means.tolist()])


def _fair(sums: SlateSums, logs: Vector) -> Vector:
    """Return the fair share of each arm in the weight of all places."""
    out = np.zeros(logs.size)
    for kind in sums.kinds:
        out[kind.arms] += kind.decisions * exposures_of(kind, logs)
    return out / sums.weight


def _lines(
    sums: SlateSums, fair: Vector, logs: Intervals, groups: Indices, names: list[Any], alpha: float
) -> tuple[SlateLine, ...]:
    """Return a line for each group of arms; `alpha` is that of one interval of exposure."""
    number = len(names)
    had, known = _exposure(sums, groups, number, alpha)
    box = Intervals(np.zeros(number), np.zeros(number))
    for kind in sums.kinds:
        for end, part in zip(box, exposure_box(kind, logs, groups), strict=True):
            end += kind.decisions * part / sums.weight
    under = known.high < box.low - ROUNDING
    over = known.low > box.high + ROUNDING
    verdicts = np.select([under, over], ["under", "over"], "unclear")
    shows, shares = (summed(groups, part, number) for part in (sums.shows, fair))
    offered = _offered(sums, groups, number)
    columns = (shows.astype(np.int64), had, *known, shares, *box, verdicts, offered)
    rows = zip(names, *(column.tolist() for column in columns), strict=True)
    return tuple(SlateLine._make(row) for row in rows)


def _offered(sums: SlateSums, groups: Indices, number: int) -> Indices:
    """Return in how many decisions each group had an arm on offer."""
    found = np.zeros(number, np.int64)
    for kind in sums.kinds:
        found[np.unique(groups[kind.arms])] += int(kind.decisions)
    return found


def _exposure(
    sums: SlateSums, groups: Indices, number: int, alpha: float
) -> tuple[Vector, Intervals]:
    """Return exposures, which are known, or the weight of the places had with its interval."""
    if sums.exposures is not None:
        known = summed(groups, sums.exposures, number) / sums.weight
        return known, Intervals(known, known)
    had = summed(groups, sums.weights, number)
    most = sums.most_weight if number == len(sums.arms) else sums.most_total
    box = always_valid(had, np.full(number, float(sums.decisions)), alpha, 0.0, most)
    per = sums.decisions / sums.weight
    return had / sums.weight, Intervals(box.low * per, box.high * per)


def _mismatched(sums: SlateSums, alpha: float) -> tuple[Any, ...]:
    """Return the arms that did not get the places that their exposures promise."""
    if sums.exposures is None:
        return ()
    counts = np.full(len(sums.arms), float(sums.decisions))
    box = always_valid(sums.weights, counts, alpha / len(sums.arms), 0.0, sums.most_weight)
    each = sums.exposures / sums.decisions
    outside = (each < box.low - ROUNDING) | (each > box.high + ROUNDING)
    return tuple(sums.arms[i] for i in np.flatnonzero(outside))
