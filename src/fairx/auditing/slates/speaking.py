"""What pseudo-rewards say of a log of slates, and the conditions of either way to judge it."""

from __future__ import annotations

import numpy as np

from fairx import rules
from fairx.auditing.beside import Trial, besides, courses
from fairx.auditing.families import Family
from fairx.auditing.result import Beside
from fairx.auditing.shares import summed
from fairx.auditing.speaking import BOX, CERTAIN, PSEUDO_REWARDS, Spoken
from fairx.logs import Log
from fairx.types import Indices, Vector

from .running import SlateJudge, SlateRunning, slate_looks
from .sums import SlateSums

CONTRAST = (
    0.5  # of an arm's exposure, at which others share its places: with less the box judges it
)
FEEDBACK = {
    "each": "A reward depends on its arm, not on the place nor on the other arms of the page.",
    "examined": "A click has the mean of its arm times the weight of the place, whatever else is on the page.",
}
ALIKE = (
    "No reward is missing because of what it is.",
    "Rewards of one user who returns are no more alike than those of two users.",
)
CONDITIONS = {
    PSEUDO_REWARDS: (
        "Each page was drawn with its logged exposures, whatever had happened before.",
        "Rows are in the order of the decisions, not of the rewards' arrival.",
        "Arms are compared with those that share places with them.",
        "An arm that mostly has places of its own is judged by the box: if means do not vary.",
        *ALIKE,
    ),
    BOX: (
        "The mean reward of each arm does not vary: not with time, not with the context.",
        *ALIKE,
    ),
}


def feedback_given(log: Log, feedback: str, low: float) -> bool:
    """Return whether rewards are clicks, which only come where a place is looked at."""
    if feedback not in FEEDBACK:
        rule = f"be one of {', '.join(FEEDBACK)}, not {feedback!r}"
        raise rules.InvalidValue("feedback", rule + rules.nearest(feedback, FEEDBACK))
    if feedback == "each":
        return False
    if low != 0:
        raise rules.InvalidValue("reward_range", f"begin at 0 for clicks, not at {low:g}")
    most = log.query("SELECT max(weight) AS most FROM taken_pages")["most"][0]
    if most > 1:
        raise rules.InvalidValue(
            "weights", f"be chances that a place is looked at, for clicks, not {most:g}"
        )
    return True


def spoken_of(
    log: Log, sums: SlateSums, form: Family | None, groups: Indices, labels: int, alpha: float,
    reward_range: tuple[float, float], clicks: bool,
) -> Spoken:  # fmt: skip
    """Return what pseudo-rewards say; nothing where they cannot speak."""
    most = max(kind.arms.size for kind in sums.kinds)
    if form is None or sums.exposures is None or most * form.floor > 1 - 1e-9:
        return Spoken()
    judge = SlateJudge(form, *reward_range, groups, labels, clicks)
    places = max(kind.weights.size for kind in sums.kinds)
    looks = slate_looks(log, len(sums.arms), places, sums.decisions, judge)
    test = Trial(form, alpha / 2 / (len(sums.arms) + labels))
    impossible = looks[-1].arms.impossible
    evidence = [one.arms.evidence() for one in looks]
    of_groups = [one.groups for one in looks if one.groups is not None]
    had = summed(groups, sums.exposures, labels)
    return Spoken(
        PSEUDO_REWARDS,
        _besides([one.arms for one in looks], test, sums.exposures),
        _besides(of_groups, test, had) if of_groups else (),
        courses(sums.arms, evidence, [one.time for one in looks], test),
        impossible,
        impossible > CERTAIN * sums.decisions,
    )


def _besides(looks: list[SlateRunning], test: Trial, exposures: Vector) -> tuple[Beside, ...]:
    """Return what each arm had; those whose places hardly anyone shares are not seen."""
    found = besides([look.evidence() for look in looks], test)
    enough = looks[-1].contrasted >= CONTRAST * np.maximum(exposures, 1e-12)
    return tuple(
        one._replace(seen=one.seen and there)
        for one, there in zip(found, enough.tolist(), strict=True)
    )
