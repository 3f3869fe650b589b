"""What an audit of slates found."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from fairx.auditing.always_valid import Intervals
from fairx.auditing.result import Beside, Course, Moment
from fairx.types import Vector


class SlateLine(NamedTuple):
    """One arm, or one group of arms. Shares are of the weight of all places."""

    arm: Any
    shows: int
    exposure: float
    exposure_low: float
    exposure_high: float
    fair_share: float
    fair_low: float
    fair_high: float
    verdict: str  # under, over, fair or unclear
    offered: int  # decisions in which it was a candidate; of a group, one of its arms
    judged_by: str  # what gave the verdict: pseudo-rewards or box
    box: str  # the verdict of the box, under its condition
    shown_below: float | None  # the ratio below which this log would have shown it to be under
    shown_above: float | None  # and above which, over

    @property
    def difference(self) -> float:
        """Exposure less fair share."""
        return self.exposure - self.fair_share

    @property
    def ratio(self) -> float:
        """Exposure over fair share; infinite for exposure that nothing earns."""
        return self.exposure / self.fair_share if self.fair_share > 0 else math.inf


class SlateAudit(NamedTuple):
    """The exposure of each arm beside what its merit earns, as far as a log of slates can tell."""

    source: str
    merit: str
    floor: float  # what each arm on offer is due, of all weight, before merit shares out the rest
    alpha: float
    lowest_reward: float
    highest_reward: float
    decisions: int
    problems: dict[str, int]
    exposure_from: str  # exposures or shows
    lines: tuple[SlateLine, ...]  # one for each arm
    means: Vector  # of the rewards of each arm, at whatever places it had
    mean_box: Intervals
    groups: tuple[SlateLine, ...]
    fairness_regret_per_decision: float | None  # from exposures: sum of |fair - had| / weights
    over_time: tuple[Moment, ...]  # the same, where times were logged
    distance: float  # sum of |exposure - fair share|
    gini_exposure: float
    gini_fair_share: float
    mismatched: tuple[Any, ...]  # arms whose exposures and shows do not fit, at any look
    judged_by: str  # pseudo-rewards or box; that of each line may differ
    conditions: tuple[str, ...]  # under which the verdicts hold
    impossible: int | None  # pages that are not fair for any rewards, where that can be told
    beside: tuple[Beside, ...]  # in the order of lines; none where pseudo-rewards cannot speak
    groups_beside: tuple[Beside, ...]
    courses: tuple[Course, ...]
