"""What an audit says in sentences: against the conditions of its verdicts, and what else is to be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from fairx.texts import several

from .always_valid import always_valid
from .asking import Asked, asked, returning_of
from .merits import Rewarded
from .prepared import Prepared
from .question import Question
from .result import Beside, Line, SampleRatio
from .speaking import BOX, Spoken
from .sums import LogSums
from .words import notes, turned_notes

FEW = 3  # arms that are named
UNLIKE = (
    "The shows of {arms} do not fit what the log says of their chances ({names}): rows are lacking, or arms were drawn "
    "otherwise. Then no verdict holds."
)
MISSING_BY_ARM = (
    "Rewards are missing for {most:.0%} of the shows of {worst}, and for {least:.0%} of those of {best}: that is not "
    "chance. Where arms alone decide which are missing it does no harm; where what they are does, fair systems are accused."
)
STILL = "Whatever the missing rewards were, {still} of {accused} would be."


class Sentences(TypedDict):
    """Those that speak against the conditions of the verdicts, and the others."""

    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def sentences(
    tables: Prepared, sums: LogSums, question: Question, said: Spoken, lines: tuple[Line, ...],
    ratio: SampleRatio, ungrouped: int,
) -> Sentences:  # fmt: skip
    """Return what the log says against its audit; means that vary do so where the box judged."""
    log, ratings, boxed = tables.log, question.ratings, said.by == BOX
    vary = _varying(tables, sums, question, boxed)
    known = ratings.notes(sums) if ratings else returning_of(log)
    against = [] if ratings else doubts(sums, ratio, question.alpha)
    others = (*turned_notes(lines), *known, *notes(log, sums, ungrouped, tables.arrived))
    return {
        "warnings": (*vary, *against) if boxed else (*against,),
        "notes": (*(() if boxed else vary), *others, *still_accused(lines, said.arms)),
    }


def _varying(tables: Prepared, sums: LogSums, question: Question, boxed: bool) -> list[str]:
    """Say where means vary, if anything supposes that they do not."""
    if question.by is not None or question.ratings is not None:
        return []
    rows = tables.rows(sums.problems)
    number = float(sums.pools.decisions.sum())
    of = Asked(tables.log, rows, "numbered", sums.arms, sums.start, sums.stop, number)
    return asked(of, question.alpha, question.reward_range, boxed)


def doubts(sums: Rewarded, ratio: SampleRatio, alpha: float) -> list[str]:
    """Return a sentence for each condition that the log speaks against."""
    return [*_unlike(ratio), *_missing_by_arm(sums, alpha)]


def still_accused(lines: Sequence[Line], besides: Sequence[Beside]) -> list[str]:
    """Say how many verdicts hold whatever the missing rewards were, where there are both."""
    beside: list[Beside | None] = [*besides] or [None] * len(lines)
    each = zip(lines, beside, strict=True)
    known = [_whatever(line, one) for line, one in each if line.verdict in ("under", "over")]
    if not known or all(sides is None for sides in known):
        return []
    held = sum(sides is not None and any(sides) for sides in known)
    accused = several(len(known), "arm that is accused", "arms that are accused")
    return [STILL.format(still=f"{held:,}", accused=accused)]


def _whatever(line: Line, one: Beside | None) -> tuple[bool, bool] | None:
    """Tell whether an arm is below, or above, with each missing reward at either end of its range."""
    if line.judged_by == BOX or one is None:
        if line.fair_least is None or line.fair_most is None:
            return None
        return line.exposure_high < line.fair_least, line.exposure_low > line.fair_most
    if one.beside_least is None and one.beside_most is None:
        return None
    below = one.beside_most is not None and one.beside_most < 1
    return below, one.beside_least is not None and one.beside_least > 1


def _unlike(ratio: SampleRatio) -> list[str]:
    if not ratio.mismatched:
        return []
    names = ", ".join(map(str, ratio.mismatched[:FEW]))
    more = ", ..." if len(ratio.mismatched) > FEW else ""
    arms = several(len(ratio.mismatched), "arm", "arms")
    return [UNLIKE.format(arms=arms, names=names + more)]


def _missing_by_arm(sums: Rewarded, alpha: float) -> list[str]:
    """Say where parts that are missing exclude each other, at all times and for all arms at once."""
    missing, shown = sums.shows - sums.rewards, np.flatnonzero(sums.shows > 0)
    if not missing.any():
        return []
    found = always_valid(missing[shown], sums.shows[shown], alpha / shown.size)
    worst, best = int(shown[np.argmax(found.low)]), int(shown[np.argmin(found.high)])
    if found.low.max() <= found.high.min():
        return []
    parts = missing / np.maximum(sums.shows, 1.0)
    return [
        MISSING_BY_ARM.format(
            most=parts[worst], worst=sums.arms[worst], least=parts[best], best=sums.arms[best]
        )
    ]
