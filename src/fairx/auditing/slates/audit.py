"""Who got less exposure on pages of several places than their merit earns, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.auditing.always_valid import Intervals
from fairx.auditing.result import Beside, Course, Line
from fairx.auditing.shares import gini
from fairx.auditing.speaking import BOX
from fairx.logs import Log, read
from fairx.merit import Merit, check_conditions
from fairx.types import Vector

from .judging import SlateQuestion, slates_told
from .lines import mismatched

SlateLine = Line  # shares are of the weight of all places


class SlateAudit(NamedTuple):
    """The exposure of each arm beside what its merit earns, as far as a log of slates can tell."""

    source: str
    merit: str
    alpha: float
    decisions: int
    problems: dict[str, int]
    exposure_from: str  # exposures or shows
    lines: tuple[SlateLine, ...]  # one for each arm
    means: Vector  # of the rewards of each arm, at whatever places it had
    mean_box: Intervals
    groups: tuple[SlateLine, ...]
    fairness_regret_per_decision: float | None  # from exposures: sum of |fair - had| / weights
    distance: float  # sum of |exposure - fair share|
    gini_exposure: float
    gini_fair_share: float
    mismatched: tuple[Any, ...]  # arms whose exposures and shows do not fit, at any look
    judged_by: str = BOX  # pseudo-rewards or box; that of each line may differ
    conditions: tuple[str, ...] = ()  # under which the verdicts hold
    impossible: int | None = None  # pages that are not fair for any rewards, where that can be told
    beside: tuple[Beside, ...] = ()  # in the order of lines; none where pseudo-rewards cannot speak
    groups_beside: tuple[Beside, ...] = ()
    courses: tuple[Course, ...] = ()


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
) -> SlateAudit:
    """Compare the exposure of each arm on pages of several places with what its merit earns.

    Parameters are those of `audit`. The log has a row for each decision and place, with its weight.
    `feedback` is "each" where a reward depends on its arm alone, "examined" where it is a click: 0
    where the place was not looked at, which its weight is the chance of.

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
    check_conditions(merit, *reward_range)
    found = log if isinstance(log, Log) else read(log, columns)
    question = SlateQuestion(merit, groups or {}, alpha, reward_range, tolerance, feedback)
    told = slates_told(found, question)
    sums, shown = told.sums, np.array([line.exposure for line in told.lines])
    fair = np.array([line.fair_share for line in told.lines])
    exact = sums.exposures is not None
    return SlateAudit(
        source=found.source,
        merit=repr(merit),
        alpha=alpha,
        decisions=sums.decisions,
        problems=found.problems(),
        exposure_from="exposures" if exact else "shows",
        lines=told.lines,
        means=told.merits.means,
        mean_box=told.merits.box,
        groups=told.groups,
        fairness_regret_per_decision=sums.regret(found, told.merits.logs) if exact else None,
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
