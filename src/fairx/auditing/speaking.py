"""Which of the two speaks, pseudo-rewards or the box, and the conditions that it needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairx.merit import Merit
from fairx.types import Indices

from .beside import Trial, besides, courses, once, trial
from .decisions import Judge, looks, weak_looks
from .families import family
from .merits import logs_of, means_of
from .once import Look
from .prepared import Columns, Prepared
from .regret import RegretSums, no_regrets
from .result import Beside, Course, Line
from .sums import LogSums
from .wealth import Evidence

PSEUDO_REWARDS, BOX = "pseudo-rewards", "box"
WEAKLY = "pseudo-rewards of the arms shown"
RATINGS = "ratings"
STEADY = "The mean reward of each arm does not vary: not with time, not with the context."
OF_THE_BOX = f"For arms or groups that the box judged: {STEADY}"
CERTAIN = 0.5  # of decisions that cannot be fair: beyond, the box speaks too
CONDITIONS = {
    PSEUDO_REWARDS: (
        "Each arm was drawn with its logged probability, whatever had happened before.",
        "Rows are in the order of the decisions, not of the rewards' arrival.",
        "No reward is missing because of what it is.",
        "Rewards of one user who returns are no more alike than those of two users.",
    ),
    WEAKLY: (
        "Each arm was drawn with its logged propensity, whatever had happened before.",
        "All arms that are taken to be on offer had a chance at every decision.",
        "Rows are in the order of the decisions, not of the rewards' arrival.",
        "No reward is missing because of what it is.",
        "Rewards of one user who returns are no more alike than those of two users.",
    ),
    RATINGS: ("An arm earns its exposure by its rating, which is known and does not vary.",),
    BOX: (
        STEADY,
        "No reward is missing because of what it is.",
        "Rewards of one user who returns are no more alike than those of two users.",
    ),
}


class Spoken(NamedTuple):
    """What pseudo-rewards say of a log; the box speaks where they say nothing."""

    by: str = BOX
    arms: tuple[Beside, ...] = ()
    groups: tuple[Beside, ...] = ()
    courses: tuple[Course, ...] = ()
    impossible: int | None = None
    certain: bool = False  # whether most decisions cannot be fair, so that the box may speak too
    regrets: Columns | None = None  # by stretch of time, where they were added up on the way


def spoken(
    tables: Prepared, sums: LogSums, merit: Merit, groups: Indices, labels: int, alpha: float,
    reward_range: tuple[float, float], look: Look,
) -> Spoken:  # fmt: skip
    """Return what pseudo-rewards say; nothing where they cannot speak."""
    form = family(merit, reward_range, sums.pools.floor)
    most = int(np.bincount(sums.pools.pool).max())
    if form is None or sums.inverse is None or most * form.floor > 1 - 1e-9:
        return Spoken()
    ours = alpha * len(sums.arms) / (len(sums.arms) + labels)  # where groups are tested apart
    rows = tables.rows(sums.problems)
    judge = Judge(form, *reward_range, groups, labels)
    if sums.exposure is None:
        if not form.steepness:
            return Spoken()
        regrets = no_regrets(sums, logs_of(merit, means_of(sums, reward_range)))
        return _weakly(tables, rows, judge, sums, ours, look, regrets)
    found = looks(tables, rows, judge)
    arms, times = [one.arms.evidence() for one in found], [one.time for one in found]
    test, impossible = trial(form, alpha, len(sums.arms) + labels), found[-1].arms.impossible
    grouped = [one.groups.evidence() for one in found if one.groups is not None]
    return Spoken(
        PSEUDO_REWARDS,
        _besides(arms, test, ours, look),
        _besides(grouped, test, alpha - ours, look) if grouped else (),
        () if look.once else courses(sums.arms, arms, times, test),
        impossible,
        impossible > CERTAIN * arms[-1].decisions,
    )


def _besides(evidence: list[Evidence], test: Trial, alpha: float, look: Look) -> tuple[Beside, ...]:
    if not look.once:
        return besides(evidence, test)
    return besides(evidence[-1:], once(evidence[-1], test, alpha, look))


def _weakly(
    tables: Prepared, rows: str, judge: Judge, sums: LogSums, alpha: float, look: Look,
    regrets: RegretSums | None,
) -> Spoken:  # fmt: skip
    """Return what pseudo-rewards say where only the propensities of the arms shown are known."""
    found = weak_looks(tables, rows, judge, sums.pools, regrets)
    arms = [one.arms.evidence(sums.pools, sums.shows) for one in found]
    test = trial(judge.merit, alpha, len(sums.arms), among_all=True)
    times = [one.time for one in found]
    followed = () if look.once else courses(sums.arms, arms, times, test)
    return Spoken(
        WEAKLY,
        _besides(arms, test, alpha, look),
        courses=followed,
        regrets=regrets and regrets.columns(),
    )


def decided(
    lines: tuple[Line, ...], besides: tuple[Beside, ...], found: Spoken, tolerance: float
) -> tuple[Line, ...]:
    """Return the lines with their verdicts: the box accuses only what pseudo-rewards cannot see.

    A fair log has no decision that cannot be fair, nor an arm without a chance: the box accuses
    nobody there, so that both together err no more often than one. An arm that had a chance, and of
    whose decisions no reward came, is told by neither: the means of others may have been others.
    """
    return tuple(
        _by_pseudo_rewards(line, one, found.by, tolerance)
        if one is not None and (one.seen or _blind(line)) and _speaks(one, found)
        else _by_box(line, tolerance)
        for line, one in zip(lines, besides or [None] * len(lines), strict=True)
    )


def conditions(lines: tuple[Line, ...], by: str) -> tuple[str, ...]:
    """Return what the verdicts need: that of the box too, where it judged an arm."""
    boxed = by not in (BOX, RATINGS) and any(
        line.judged_by == BOX and line.fair_low < line.fair_high for line in lines
    )
    return (*CONDITIONS[by], *((OF_THE_BOX,) if boxed else ()))


def _speaks(one: Beside, found: Spoken) -> bool:
    return one.accused != "unclear" or not found.certain


def _blind(line: Line) -> bool:
    """Tell an arm that had a chance, where its share depends on what means were."""
    return line.exposure > 0 and line.fair_low < line.fair_high


def _by_pseudo_rewards(line: Line, one: Beside, by: str, tolerance: float) -> Line:
    """Return the line with what pseudo-rewards say, and what they could have shown.

    An interval that is as wide about another estimate would have been beside 1 there.
    """
    ends = (one.beside_low, one.beside_high)
    below, above = (
        one.beside / end if one.beside and end else None
        for end in (one.beside_high, one.beside_low)
    )
    verdict = one.accused if one.accused != "unclear" else fair_within(ends, tolerance)
    # Propensities alone weigh all decisions alike, also those in which an arm has next to nothing:
    # one that has all at some decisions lacks most at most of them. That is not too little.
    turned = {"under": line.ratio >= 1, "over": line.ratio <= 1}
    if by == WEAKLY and turned.get(verdict, False):
        verdict = "unclear"
    return line._replace(verdict=verdict, judged_by=by, shown_below=below, shown_above=above)


def _by_box(line: Line, tolerance: float) -> Line:
    """Return the line with what the box says, and what it could have shown."""
    fair, shown = line.fair_share, line.exposure
    below = line.fair_low / fair * (shown / line.exposure_high) if fair and shown else None
    above = (
        line.fair_high / fair * (shown / line.exposure_low) if fair and line.exposure_low else None
    )
    ends = (line.ratio_low, line.ratio_high)
    verdict = line.box if line.box != "unclear" else fair_within(ends, tolerance)
    return line._replace(verdict=verdict, shown_below=below, shown_above=above)


def fair_within(
    ends: tuple[float | None, float | None], tolerance: float, other: str = "unclear"
) -> str:
    """Say whether all of an interval of ratios is about 1: nothing worse has been left open."""
    low, high = ends
    if low is None or high is None:
        return other
    return "fair" if low >= 1 - tolerance and high <= 1 / (1 - tolerance) else other
