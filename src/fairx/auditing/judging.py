"""From the sums of a log to the audit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.types import Indices

from .asking import Asked, asked, returning_of
from .lines import NO_GROUP, grouped, lines, sensitivity
from .merits import Merits, described, errors_of, estimated
from .noise import Known, noise
from .once import COVERS, ENOUGH, SHARED
from .once import boxed as boxed_once
from .prepared import Prepared
from .question import Question
from .regret import regret
from .result import Audit, Line, Sensitivity
from .sample_ratio import sample_ratio
from .shares import gini
from .speaking import BOX, RATINGS, WEAKLY, Spoken, conditions, decided, spoken
from .strata import stratified
from .sums import LogSums
from .words import notes, turned_notes


class Boxed(NamedTuple):
    """What the box says, and the merits that the whole log shows."""

    merits: Merits
    lines: tuple[Line, ...]
    groups: tuple[Line, ...]
    sensitivity: tuple[Sensitivity, ...]


def judged(tables: Prepared, sums: LogSums, question: Question) -> Audit:
    """Return the audit of a log with these sums."""
    log, (merit, _, alpha, reward_range, by, tolerance, look, ratings) = tables.log, question
    group_of, labels = grouped(sums.arms, question.groups)
    numbers = np.array([labels.index(group) if group else 0 for group in group_of])
    ours = alpha * len(sums.arms) / (len(sums.arms) + len(labels))  # the part of alpha for arms
    said = Spoken(RATINGS)
    if ratings is None:
        said = spoken(tables, sums, merit, numbers, len(labels), alpha, reward_range, look)
    # Where arms are judged by other means than groups, both have a part of alpha.
    of_box = alpha - ours if look.once or said.by == WEAKLY else alpha
    merits, found, of_groups, sensitive = _boxed(tables, sums, question, labels, numbers, of_box)
    shown, fair = (
        np.array([getattr(line, k) for line in found]) for k in ("exposure", "fair_share")
    )
    distance = float(np.abs(shown - fair).sum())
    regrets = regret(tables, sums, merits.logs, distance)
    known = Known(sums, merit, merits, reward_range, rated=ratings is not None)
    unsure = noise(sums, known, regrets.value)
    arms = described(sums, merit, merits, group_of)
    if look.once:
        span = reward_range[1] - reward_range[0]
        most = span * span / 4
        errors = errors_of(sums, merit, merits, ENOUGH, most)
        found = boxed_once(found, arms, errors, int(sums.pools.decisions.sum()), ours, look)
    rows = Asked(log, tables.rows(sums.problems), "numbered", sums.arms, sums.start, sums.stop)
    vary = asked(rows, alpha, reward_range) if by is None and said.by == BOX else []
    judged_lines, judged_groups = (
        ratings.judged(some, tolerance) if ratings else decided(some, besides, said, tolerance)
        for some, besides in ((found, said.arms), (of_groups, said.groups))
    )
    return Audit(
        source=log.source,
        merit=repr(merit),
        floor=sums.pools.floor,
        alpha=alpha,
        tolerance=tolerance,
        lowest_reward=reward_range[0],
        highest_reward=reward_range[1],
        rows=sums.rows,
        decisions=int(sums.pools.decisions.sum()),
        problems=sums.problems,
        notes=(
            *vary,
            *turned_notes(judged_lines),
            *(ratings.notes(sums) if ratings else returning_of(log)),
            *notes(log, sums, group_of.count(NO_GROUP), tables.arrived),
        ),
        by=by,
        judged_by=said.by,
        look=look.words,
        conditions=(
            *conditions((*judged_lines, *judged_groups), said.by),
            *(COVERS if look.once else ()),
            *((SHARED,) if look.once and labels else ()),
        ),
        impossible=said.impossible,
        lines=judged_lines,
        arms=arms,
        beside=said.arms,
        groups=judged_groups,
        groups_beside=said.groups,
        courses=said.courses,
        fairness_regret_per_decision=regrets.value,
        regret_from=regrets.method,
        regret_low=max(0.0, regrets.value - unsure.reach),
        regret_high=min(2.0, regrets.value + unsure.reach),
        regret_floor=unsure.floor,
        over_time=regrets.over_time,
        dated=log.dated,
        distance=distance,
        gini_exposure=gini(shown),
        gini_fair_share=gini(fair),
        sample_ratio=sample_ratio(sums, alpha),
        sensitivity=sensitive,
        columns=dict(log.columns),
        start=sums.start if "time" in log.columns else None,
        stop=sums.stop if "time" in log.columns else None,
    )


def _boxed(
    tables: Prepared, sums: LogSums, question: Question, labels: list[str], numbers: Indices,
    of_groups: float,
) -> Boxed:  # fmt: skip
    """Judge arms and groups by the box; with strata an arm is another in each of them.

    `of_groups` is what groups have of alpha: all of it, with the arms, or a part of their own.
    """
    names, exact = sums.arms, sums.exposure is not None
    half = 1.0 if exact else 0.5  # the rest is for exposure
    alpha = half * question.alpha
    each = question.alpha / 2 / (len(names) + len(labels))  # for exposure, where it is not exact
    if question.ratings is not None:
        merits = inside = question.ratings.merits(sums, question.merit, question.reward_range)
        each *= 2
    else:
        merits = inside = estimated(sums, question.merit, alpha, question.reward_range)
    parts, arm_of = sums, np.arange(len(names))
    if question.by is not None:
        parts, arm_of = stratified(tables, sums)
        inside = estimated(parts, question.merit, alpha, question.reward_range)
    found = lines(parts, inside, arm_of, names, each)
    if labels and of_groups < question.alpha:
        inside = estimated(parts, question.merit, half * of_groups, question.reward_range)
        each = of_groups / 2 / len(labels)
    groups = lines(parts, inside, numbers[arm_of], labels, each) if labels else ()
    return Boxed(merits, found, groups, sensitivity(parts, inside, arm_of, found))
