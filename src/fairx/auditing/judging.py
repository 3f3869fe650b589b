"""From the sums of a log to the audit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.types import Indices

from .lines import NO_GROUP, grouped, lines, sensitivity
from .merits import Merits, described, errors_of, estimated
from .noise import Known, noise
from .once import COVERS, ENOUGH, SHARED
from .once import boxed as boxed_once
from .prepared import Prepared
from .question import Question
from .record import Apart, apart, distance, given
from .regret import regret
from .result import Arm, Audit, Beside, Line, Sensitivity
from .sample_ratio import sample_ratio
from .sentences import sentences
from .speaking import RATINGS, WEAKLY, Spoken, conditions, decided, spoken
from .strata import stratified
from .sums import LogSums


class Boxed(NamedTuple):
    """What the box says, and the merits that the whole log shows."""

    merits: Merits
    lines: tuple[Line, ...]
    groups: tuple[Line, ...]
    sensitivity: tuple[Sensitivity, ...]


class Shared(NamedTuple):
    """The groups that arms are in, and what arms and groups have of alpha where they are tested apart."""

    group_of: list[str | None]
    labels: list[str]
    numbers: Indices
    of_arms: float
    of_groups: float


def judged(tables: Prepared, sums: LogSums, question: Question) -> Audit:
    """Return the audit of a log with these sums."""
    shared = _shared(sums, question)
    said = _said(tables, sums, question, shared)
    # Where arms are judged by other means than groups, both have a part of alpha.
    apart_tested = question.look.once or said.by == WEAKLY
    boxed = _boxed(
        tables, sums, question, shared, shared.of_groups if apart_tested else question.alpha
    )
    arms = described(sums, question.merit, boxed.merits, shared.group_of)
    if question.look.once:
        boxed = boxed._replace(lines=_looked_once(sums, question, boxed, arms, shared.of_arms))
    lines, groups = (
        _decided(question, some, besides, said)
        for some, besides in ((boxed.lines, said.arms), (boxed.groups, said.groups))
    )
    return _record(tables, sums, question, said, boxed, Told(arms, lines, groups, shared))


class Told(NamedTuple):
    """What is told of arms and groups."""

    arms: tuple[Arm, ...]
    lines: tuple[Line, ...]
    groups: tuple[Line, ...]
    shared: Shared


def _record(
    tables: Prepared, sums: LogSums, question: Question, said: Spoken, boxed: Boxed, told: Told
) -> Audit:
    look, ends, ratio = question.look, question.reward_range, sample_ratio(sums, question.alpha)
    ungrouped = told.shared.group_of.count(NO_GROUP)
    return Audit(
        **given(
            tables.log, question.merit, sums.pools.floor, question.alpha, question.tolerance, ends,
            (sums.start, sums.stop),
        ),
        rows=sums.rows,
        decisions=int(sums.pools.decisions.sum()),
        problems=sums.problems,
        **sentences(tables, sums, question, said, told.lines, ratio, ungrouped),
        by=question.by,
        judged_by=said.by,
        look=look.words,
        conditions=(
            *conditions((*told.lines, *told.groups), said.by),
            *(COVERS if look.once else ()),
            *((SHARED,) if look.once and told.shared.labels else ()),
        ),
        impossible=said.impossible,
        lines=told.lines,
        arms=told.arms,
        beside=said.arms,
        groups=told.groups,
        groups_beside=said.groups,
        courses=said.courses,
        sample_ratio=ratio,
        sensitivity=boxed.sensitivity,
        **_apart(tables, sums, question, boxed, said),
    )  # fmt: skip


def _shared(sums: LogSums, question: Question) -> Shared:
    group_of, labels = grouped(sums.arms, question.groups)
    numbers = np.array([labels.index(group) if group else 0 for group in group_of])
    ours = question.alpha * len(sums.arms) / (len(sums.arms) + len(labels))
    return Shared(group_of, labels, numbers, ours, question.alpha - ours)


def _said(tables: Prepared, sums: LogSums, question: Question, shared: Shared) -> Spoken:
    """Return what pseudo-rewards say; nothing where merit is from ratings."""
    if question.ratings is not None:
        return Spoken(RATINGS)
    merit, alpha, ends, look = (
        question.merit, question.alpha, question.reward_range, question.look,
    )  # fmt: skip
    return spoken(tables, sums, merit, shared.numbers, len(shared.labels), alpha, ends, look)


def _looked_once(
    sums: LogSums, question: Question, boxed: Boxed, arms: tuple[Arm, ...], alpha: float
) -> tuple[Line, ...]:
    """Return the lines with the verdicts of the box at a single look."""
    low, high = question.reward_range
    errors = errors_of(sums, question.merit, boxed.merits, ENOUGH, (high - low) ** 2 / 4)
    decisions = int(sums.pools.decisions.sum())
    return boxed_once(boxed.lines, arms, errors, decisions, alpha, question.look)


def _decided(
    question: Question, lines: tuple[Line, ...], besides: tuple[Beside, ...], said: Spoken
) -> tuple[Line, ...]:
    if question.ratings is not None:
        return question.ratings.judged(lines, question.tolerance)
    return decided(lines, besides, said, question.tolerance)


def _apart(
    tables: Prepared, sums: LogSums, question: Question, boxed: Boxed, said: Spoken
) -> Apart:
    """Return how far from fair the log is, by the merits that all of it shows."""
    found = regret(tables, sums, boxed.merits.logs, distance(boxed.lines), said.regrets)
    rated = question.ratings is not None
    known = Known(sums, question.merit, boxed.merits, question.reward_range, rated=rated)
    return apart(boxed.lines, found, noise(sums, known, found.value))


def _boxed(
    tables: Prepared, sums: LogSums, question: Question, shared: Shared, of_groups: float
) -> Boxed:
    """Judge arms and groups by the box; with strata an arm is another in each of them.

    `of_groups` is what groups have of alpha: all of it, with the arms, or a part of their own.
    """
    names, exact = sums.arms, sums.exposure is not None
    labels, numbers = shared.labels, shared.numbers
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
