"""From the sums of a log to the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx.merit import Merit
from fairx.types import Indices

from .asking import asked, returning
from .lines import lines, sensitivity
from .merits import Merits, described, estimated
from .notes import notes
from .once import COVERS, Look
from .once import boxed as boxed_once
from .prepared import Prepared
from .regret import noise, regret
from .result import Audit, Line, Sensitivity
from .sample_ratio import sample_ratio
from .shares import gini
from .speaking import BOX, CONDITIONS, decided, spoken
from .strata import stratified
from .sums import LogSums

NO_GROUP = "(no group)"


class Question(NamedTuple):
    """How a log is to be judged."""

    merit: Merit
    groups: Mapping[Any, str]
    alpha: float
    reward_range: tuple[float, float]
    by: str | None  # strata of the box
    tolerance: float
    look: Look


class Boxed(NamedTuple):
    """What the box says, and the merits that the whole log shows."""

    merits: Merits
    lines: tuple[Line, ...]
    groups: tuple[Line, ...]
    sensitivity: tuple[Sensitivity, ...]


def judged(tables: Prepared, sums: LogSums, question: Question) -> Audit:
    """Return the audit of a log with these sums."""
    log, (merit, _, alpha, reward_range, by, tolerance, look) = tables.log, question
    group_of, labels = _grouped(sums.arms, question.groups)
    numbers = np.array([labels.index(group) if group else 0 for group in group_of])
    merits, found, grouped, sensitive = _boxed(tables, sums, question, labels, numbers)
    shown, fair = (
        np.array([getattr(line, k) for line in found]) for k in ("exposure", "fair_share")
    )
    distance = float(np.abs(shown - fair).sum())
    regrets = regret(tables, sums, merits.logs, distance)
    unsure = noise(sums, merit, merits, reward_range)
    said = spoken(tables, sums, merit, numbers, len(labels), alpha, reward_range, look)
    arms = described(sums, merit, merits, group_of)
    if look.once:
        found = boxed_once(found, arms, int(sums.pools.decisions.sum()), alpha, look)
    vary = asked(tables, sums, alpha, reward_range) if by is None and said.by == BOX else []
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
            *returning(tables),
            *notes(log, sums, group_of.count(NO_GROUP), tables.arrived),
        ),
        by=by,
        judged_by=said.by,
        look=look.words,
        conditions=(*CONDITIONS[said.by], *(COVERS if look.once else ())),
        impossible=said.impossible,
        lines=decided(found, said.arms, said, tolerance),
        arms=arms,
        beside=said.arms,
        groups=decided(grouped, said.groups, said, tolerance),
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
    )


def _boxed(
    tables: Prepared, sums: LogSums, question: Question, labels: list[str], numbers: Indices
) -> Boxed:
    """Judge arms and groups by the box; with strata an arm is another in each of them."""
    names, exact = sums.arms, sums.exposure is not None
    alpha = question.alpha if exact else question.alpha / 2
    each = question.alpha / 2 / (len(names) + len(labels))  # for exposure, where it is not exact
    merits = inside = estimated(sums, question.merit, alpha, question.reward_range)
    parts, arm_of = sums, np.arange(len(names))
    if question.by is not None:
        parts, arm_of = stratified(tables, sums)
        inside = estimated(parts, question.merit, alpha, question.reward_range)
    found = lines(parts, inside, arm_of, names, each)
    groups = lines(parts, inside, numbers[arm_of], labels, each) if labels else ()
    return Boxed(merits, found, groups, sensitivity(parts, inside, arm_of, found))


def _grouped(arms: list[Any], groups: Mapping[Any, str]) -> tuple[list[str | None], list[str]]:
    """Return the group of each arm, and all groups; arms are matched by what they read as."""
    named = {str(arm): str(group) for arm, group in groups.items()}
    there = {str(arm) for arm in arms}
    if groups and there.isdisjoint(named):
        first = next(iter(named))
        raise ValueError(f"groups must name arms of the log, not {first!r}: none of them is there")
    group_of = [named.get(str(arm), NO_GROUP) if groups else None for arm in arms]
    return group_of, sorted({group for group in group_of if group is not None})
