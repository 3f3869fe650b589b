"""The audit of a log of slates, with all that the page and the files show."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fairx.auditing.asking import Asked, asked, returning_of
from fairx.auditing.lines import NO_GROUP, POWERS
from fairx.auditing.merits import Merits
from fairx.auditing.noise import Known, Noise, Shown, noise_of
from fairx.auditing.record import apart, distance, given
from fairx.auditing.regret import Regret
from fairx.auditing.result import Arm, Audit, Line, SampleRatio, Sensitivity
from fairx.auditing.sentences import doubts, still_accused
from fairx.auditing.speaking import BOX
from fairx.auditing.words import left_out_of
from fairx.logs import Log
from fairx.texts import several
from fairx.types import Vector

from .judging import SlateQuestion, SlatesTold, slates_told
from .lines import fair_shares, mismatched
from .shares import exposures_of
from .sums import SlateSums

NO_CANDIDATES = "The log does not say which arms were on offer: all are taken to be, always."
NO_EXPOSURES = (
    "The log has no exposures: they are the weights of the places had, with an interval and half of "
    "alpha, and the regret is that of their average."
)
SHARES = "Pages have several places: shares are of the weight of all places."
MISSING = "Where rewards go missing because of what they are, or of their place, merit is biased."
UNCHECKED = SampleRatio("none: the log has no exposures", None, ())
CHECKED = "places against exposures, always-valid intervals"


def slates_audited(log: Log, question: SlateQuestion) -> Audit:
    """Return the audit of a log of slates."""
    told = slates_told(log, question, POWERS)
    sums, merits, exact = told.sums, told.merits, told.sums.exposures is not None
    far = distance(told.lines)
    regrets = sums.regret(log, merits.logs) if exact else Regret(far, "shows", ())
    ratio = UNCHECKED
    if exact:
        ratio = SampleRatio(CHECKED, None, mismatched(sums, question.alpha))
    rows = int(log.query("SELECT count(*) AS n FROM checked")["n"][0])
    vary = _varying(log, told, question)
    boxed = told.said.by == BOX
    return Audit(
        **given(
            log, question.merit, question.floor, question.alpha, question.tolerance,
            question.reward_range, (sums.start, sums.stop),
        ),
        rows=rows,
        decisions=sums.decisions,
        problems=log.problems(),
        warnings=(*(vary if boxed else ()), *doubts(sums, ratio, question.alpha)),
        notes=(
            *(() if boxed else vary),
            *_notes(log, told, rows),
            *still_accused(told.lines, told.said.arms),
        ),
        by=None,
        judged_by=told.said.by,
        look="at any time",
        conditions=told.conditions,
        impossible=told.said.impossible,
        lines=told.lines,
        arms=_arms(sums, merits, told.group_of),
        beside=told.said.arms,
        groups=told.groups,
        groups_beside=told.said.groups,
        courses=told.said.courses,
        sample_ratio=ratio,
        sensitivity=_sensitivity(sums, merits, told.lines),
        **apart(told.lines, regrets, _noise(sums, question, told)),
    )  # fmt: skip


def _varying(log: Log, told: SlatesTold, question: SlateQuestion) -> list[str]:
    sums = told.sums
    of = Asked(log, "taken_pages", "page_arms", sums.arms, sums.start, sums.stop, sums.decisions)
    return asked(of, question.alpha, question.reward_range, told.said.by == BOX)


def _notes(log: Log, told: SlatesTold, rows: int) -> tuple[str, ...]:
    sums = told.sums
    missing = int((sums.shows - sums.rewards).sum())
    left_out = rows - int(log.query("SELECT count(*) AS n FROM valid")["n"][0])
    ungrouped = told.group_of.count(NO_GROUP)
    said = (
        (True, SHARES),
        (
            left_out,
            left_out_of(left_out, rows, ", or stand on a page with one,"),
        ),
        ("candidates" not in log.columns, NO_CANDIDATES),
        (sums.exposures is None, NO_EXPOSURES),
        (missing, f"{several(missing, 'place has', 'places have')} no reward. {MISSING}"),
        (ungrouped, f"{several(ungrouped, 'arm has', 'arms have')} no group."),
    )
    pages = returning_of(log, "decision")
    return (*pages, *(words for holds, words in said if holds))


def _arms(sums: SlateSums, merits: Merits, groups: list[str | None]) -> tuple[Arm, ...]:
    """Return what is known of each arm's rewards; late ones are not counted."""
    unknown = [None] * len(sums.arms)
    columns = (
        sums.rewards.astype(np.int64).tolist(),
        (sums.shows - sums.rewards).astype(np.int64).tolist(),
        unknown, unknown,
        *(part.tolist() for part in (merits.means, *merits.box)),
        *(np.exp(part).tolist() for part in (merits.logs, *merits.log_box)),
        unknown, unknown, groups,
    )  # fmt: skip
    return tuple(Arm(*row) for row in zip(*columns, strict=True))


def _noise(sums: SlateSums, question: SlateQuestion, told: SlatesTold) -> Noise:
    """Return what is not known of the regret."""
    merits = told.merits
    known = Known(sums, question.merit, merits, question.reward_range, told.looked)
    if sums.exposures is None:
        fair = fair_shares(sums, merits.logs)
        # Places that all weigh as much as the first vary as much as places can.
        shown = Shown(fair, sums.weights / sums.weight, sums.weight // sums.most_weight)
        return noise_of(known, lambda logs: fair_shares(sums, logs) - fair, shown)
    pages = sum(kind.decisions for kind in sums.kinds)
    parts = [kind.decisions / kind.weights.sum() / pages for kind in sums.kinds]
    before = [exposures_of(kind, merits.logs) for kind in sums.kinds]

    def apart(logs: Vector) -> Vector:
        each = zip(sums.kinds, parts, before, strict=True)
        return np.concatenate([part * (exposures_of(kind, logs) - one) for kind, part, one in each])

    return noise_of(known, apart)


def _sensitivity(
    sums: SlateSums, merits: Merits, lines: tuple[Line, ...]
) -> tuple[Sensitivity, ...]:
    shown, rows = np.array([line.exposure for line in lines]), []
    for i, power in enumerate(POWERS):
        counts = Counter(line.verdicts[i] for line in lines)
        apart = float(np.abs(shown - fair_shares(sums, power * merits.logs)).sum())
        rows.append(Sensitivity(power, counts["under"], counts["over"], counts["unclear"], apart))
    return tuple(rows)
