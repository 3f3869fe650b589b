"""Who got less exposure on pages of several places than their merit earns, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairx import rules
from fairx.auditing.result import Line
from fairx.auditing.shares import gini
from fairx.logs import Log, read
from fairx.merit import Merit, check_conditions
from fairx.types import Indices

from .judging import SlateQuestion, slates_told
from .lines import mismatched
from .result import SlateAudit, SlateLine
from .sums import SlateSums


def audit_slates(
    log: Log | Any,
    merit: Merit,
    *,
    groups: Mapping[Any, str] | None = None,
    alpha: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    columns: Mapping[str, str] | None = None,
    feedback: str = "each",
    tolerance: float = 0.1,
    floor: float = 0.0,
) -> SlateAudit:
    """Compare the exposure of each arm on pages of several places with what its merit earns.

    Parameters are those of `audit`. The log has a row for each decision and place, with its weight.
    `feedback` is "each" where a reward depends on its arm alone, "examined" where it is a click: 0
    where the place was not looked at, which its weight is the chance of. `floor` is the part of the weight of all
    places that each arm on offer is due before merit shares out the rest.

    Notes
    -----
    Where `exposures` were logged and the merit allows it, pseudo-rewards judge, as in `audit`: arms
    beside those that share places with them. The box judges the others: an arm is `under` (`over`) where all
    of its exposure's interval is below (above) all fair exposures that the always-valid box of means
    allows. Each has half of alpha, so that any arm of a fair log is ever accused with a chance of at
    most alpha. Without `exposures` the box alone judges: exposure is the weight of the
    places an arm had, with an interval, and alpha is divided between the two.

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
    reward_range = rules.interval("reward_range", reward_range)
    check_conditions(merit, *reward_range)
    found = log if isinstance(log, Log) else read(log, columns)
    floor = rules.number("floor", floor, low=0, high=1)
    question = SlateQuestion(merit, groups or {}, alpha, reward_range, tolerance, feedback, floor)
    told = slates_told(found, question)
    sums, shown = told.sums, np.array([line.exposure for line in told.lines])
    fair = np.array([line.fair_share for line in told.lines])
    exact = sums.exposures is not None
    regrets = sums.regret(found, told.merits.logs) if exact else None
    return SlateAudit(
        source=found.source,
        merit=repr(merit),
        floor=floor,
        alpha=alpha,
        lowest_reward=reward_range[0],
        highest_reward=reward_range[1],
        decisions=sums.decisions,
        problems=found.problems(),
        exposure_from="exposures" if exact else "shows",
        lines=_lines(told.lines, sums, np.arange(len(sums.arms))),
        means=told.merits.means,
        mean_box=told.merits.box,
        groups=_lines(told.groups, sums, told.numbers),
        fairness_regret_per_decision=regrets.value if regrets else None,
        over_time=regrets.over_time if regrets else (),
        distance=float(np.abs(shown - fair).sum()),
        gini_exposure=gini(shown),
        gini_fair_share=gini(fair),
        mismatched=mismatched(sums, alpha),
        judged_by=told.said.by,
        conditions=told.conditions,
        impossible=told.said.impossible,
        beside=told.said.arms,
        groups_beside=told.said.groups,
        courses=told.said.courses,
    )


def _lines(lines: tuple[Line, ...], sums: SlateSums, groups: Indices) -> tuple[SlateLine, ...]:
    """Return the lines with the number of decisions in which each group had an arm on offer."""
    offered = np.zeros(len(lines), np.int64)
    for kind in sums.kinds if lines else ():
        offered[np.unique(groups[kind.arms])] += int(kind.decisions)
    return tuple(
        SlateLine(
            *line[:8],
            line.verdict,
            number,
            line.judged_by,
            line.box,
            line.shown_below,
            line.shown_above,
        )
        for line, number in zip(lines, offered.tolist(), strict=True)
    )
