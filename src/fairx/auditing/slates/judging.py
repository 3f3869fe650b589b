"""From a log of slates to its lines and verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx import rules
from fairx.auditing.families import family
from fairx.auditing.lines import grouped
from fairx.auditing.merits import Merits, estimated
from fairx.auditing.result import Line
from fairx.auditing.shares import check_floor
from fairx.auditing.speaking import Spoken, decided
from fairx.logs import Log
from fairx.merit import Merit
from fairx.types import Indices, Vector

from .lines import Among, slate_lines
from .speaking import CONDITIONS, FEEDBACK, feedback_given, spoken_of
from .sums import SlateSums, slate_sums


class SlateQuestion(NamedTuple):
    """How a log of slates is to be judged."""

    merit: Merit
    groups: Mapping[Any, str]
    alpha: float
    reward_range: tuple[float, float]
    tolerance: float
    feedback: str
    floor: float = 0.0


class SlatesTold(NamedTuple):
    """What a log of slates tells."""

    sums: SlateSums
    merits: Merits
    said: Spoken
    lines: tuple[Line, ...]
    groups: tuple[Line, ...]
    group_of: list[str | None]
    numbers: Indices  # of the group of each arm
    conditions: tuple[str, ...]
    looked: Vector | float  # how often what was shown was looked at, where rewards are clicks


def slates_told(
    log: Log, question: SlateQuestion, powers: tuple[float, ...] = (1.0,)
) -> SlatesTold:
    """Judge a log of slates: pseudo-rewards and the box, or box and exposure, have half of alpha each."""
    merit, alpha, reward_range = question.merit, question.alpha, question.reward_range
    sums = _floored(slate_sums(log), question.floor)
    _check_range(sums, reward_range)
    clicks = feedback_given(log, question.feedback, reward_range[0])
    group_of, labels = grouped(sums.arms, question.groups)
    numbers = np.array([labels.index(group) if group else 0 for group in group_of])
    form = family(merit, reward_range, question.floor)
    said = spoken_of(log, sums, form, numbers, len(labels), alpha / 2, reward_range, clicks)
    alone = sums.exposures is not None and not said.arms
    looked = _looked(sums) if clicks else 1.0
    merits = estimated(sums, merit, alpha if alone else alpha / 2, reward_range, looked)
    each = alpha / 2 / (len(sums.arms) + len(labels))
    among = Among(np.arange(len(sums.arms)), sums.arms, each)
    found = slate_lines(sums, merits, among, powers)
    of_groups = slate_lines(sums, merits, Among(numbers, labels, each), powers) if labels else ()
    return SlatesTold(
        sums,
        merits,
        said,
        decided(found, said.arms, said, question.tolerance),
        decided(of_groups, said.groups, said, question.tolerance),
        group_of,
        numbers,
        (FEEDBACK[question.feedback], *CONDITIONS[said.by]),
        looked,
    )


def _floored(sums: SlateSums, floor: float) -> SlateSums:
    check_floor(floor, max(kind.arms.size for kind in sums.kinds))
    return sums._replace(kinds=[kind._replace(floor=floor) for kind in sums.kinds])


def _looked(sums: SlateSums) -> Vector:
    """Return how often the places that each arm had are looked at."""
    found = sums.looked / np.maximum(sums.rewards, 1.0)
    return np.where(found > 0, found, 1.0)


def _check_range(sums: SlateSums, reward_range: tuple[float, float]) -> None:
    low, high = reward_range
    if sums.least < low or sums.most > high:
        rule = f"be from {low:g} to {high:g}, not {sums.least:g} to {sums.most:g}"
        raise rules.InvalidValue("rewards", f"{rule}: give their range as reward_range=(low, high)")
