"""From the sums of a log to the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairx.merit import Merit

from .asking import asked, returning
from .lines import lines, sensitivity
from .merits import described, estimated
from .notes import notes
from .once import COVERS, Look
from .once import boxed as boxed_once
from .prepared import Prepared
from .regret import noise, regret
from .result import Audit
from .sample_ratio import sample_ratio
from .shares import gini
from .speaking import BOX, CONDITIONS, decided, spoken
from .strata import stratified
from .sums import LogSums

NO_GROUP = "(no group)"
ALWAYS = Look()


def judged(
    tables: Prepared,
    sums: LogSums,
    merit: Merit,
    groups: Mapping[Any, str],
    alpha: float,
    reward_range: tuple[float, float],
    by: str | None = None,
    tolerance: float = 0.1,
    look: Look = ALWAYS,
) -> Audit:
    """Return the audit of a log with these sums."""
    log, names, exact = tables.log, sums.arms, sums.exposure is not None
    group_of, labels = _grouped(names, groups)
    merits = estimated(sums, merit, alpha if exact else alpha / 2, reward_range)
    each = alpha / 2 / (len(names) + len(labels))  # for exposure, where it is not exact
    boxed, arm_of = (sums, np.arange(len(names))) if by is None else stratified(tables, sums)
    inside = merits
    if by is not None:
        inside = estimated(boxed, merit, alpha if exact else alpha / 2, reward_range)
    found = lines(boxed, inside, arm_of, names, each)
    numbers = np.array([labels.index(group) if group else 0 for group in group_of])
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
    grouped = lines(boxed, inside, numbers[arm_of], labels, each) if labels else ()
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
        sensitivity=sensitivity(boxed, inside, arm_of, found),
    )


def _grouped(arms: list[Any], groups: Mapping[Any, str]) -> tuple[list[str | None], list[str]]:
    """Return the group of each arm, and all groups; arms are matched by what they read as."""
    named = {str(arm): str(group) for arm, group in groups.items()}
    there = {str(arm) for arm in arms}
    if groups and there.isdisjoint(named):
        first = next(iter(named))
        raise ValueError(f"groups must name arms of the log, not {first!r}: none of them is there")
    group_of = [named.get(str(arm), NO_GROUP) if groups else None for arm in arms]
    return group_of, sorted({group for group in group_of if group is not None})
