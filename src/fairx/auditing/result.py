"""What an audit found."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Line(NamedTuple):
    """One arm, or one group of arms."""

    arm: Any
    shows: int
    exposure: float  # share of all decisions: of their probabilities where those are logged
    exposure_low: float
    exposure_high: float
    fair_share: float
    fair_low: float
    fair_high: float
    difference: float  # exposure - fair share
    difference_low: float
    difference_high: float
    ratio: float  # exposure / fair share
    ratio_low: float
    ratio_high: float
    verdict: str  # under, over, fair or unclear
    judged_by: str  # what gave the verdict: pseudo-rewards or box
    box: str  # the verdict of the box, under its condition
    shown_below: float | None  # the ratio below which this log would have shown it to be under
    shown_above: float | None  # and above which, over
    fair_least: float | None  # the fair shares of the box whatever the missing rewards were
    fair_most: float | None
    verdicts: tuple[str, ...]  # of the box, for each power of the merit in the audit's sensitivity


class Beside(NamedTuple):
    """What one arm, or one group, had beside the others over what its rewards earn.

    By pseudo-rewards, without any mean; intervals hold at all times.
    """

    beside: float | None
    beside_low: float | None
    beside_high: float | None
    of_share: float | None  # what that is of its share, if the others were treated alike
    of_share_low: float | None
    of_share_high: float | None
    beside_least: float | None  # the interval whatever the missing rewards were
    beside_most: float | None
    accused: str  # under, over or unclear
    since: int | None  # decisions after which it was first accused
    seen: bool  # whether there was any chance that it was shown, and that it was not


class Course(NamedTuple):
    """One arm over time: what it had beside the others, after some numbers of decisions."""

    arm: Any
    decisions: tuple[int, ...]
    times: tuple[float, ...]
    beside: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


class Arm(NamedTuple):
    """What is known of one arm's rewards, beside its line."""

    rewards: int
    missing: int
    late: int | None
    delay: float | None  # mean, from decision to reward
    mean: float
    mean_low: float
    mean_high: float
    merit: float
    merit_low: float
    merit_high: float
    delta_low: float | None  # of the fair share: one arm, one look
    delta_high: float | None
    group: str | None


class SampleRatio(NamedTuple):
    """Whether arms were shown as often as their probabilities say."""

    method: str
    p_value: float | None  # one look
    mismatched: tuple[Any, ...]  # arms outside their always-valid interval


class Sensitivity(NamedTuple):
    """Verdicts and distance when the merit is raised to a power."""

    power: float
    under: int
    over: int
    unclear: int
    distance: float


class Moment(NamedTuple):
    """A stretch of time."""

    start: float
    stop: float
    decisions: int
    fairness_regret_per_decision: float


class Audit(NamedTuple):
    """The exposure of each arm beside what its merit earns, as far as a log can tell."""

    source: str
    merit: str
    floor: float  # what each arm on offer is due before merit shares out the rest
    alpha: float
    tolerance: float  # within which an arm is fair
    lowest_reward: float
    highest_reward: float
    rows: int
    decisions: int
    problems: dict[str, int]
    warnings: tuple[str, ...]  # what the log itself says against the conditions of its verdicts
    notes: tuple[str, ...]
    by: str | None  # what the box is stratified by
    judged_by: str  # what gave the verdicts
    look: str  # at any time, or once and how the tests of all arms are corrected
    conditions: tuple[str, ...]  # under which the verdicts hold
    impossible: int | None  # decisions that are not fair for any rewards, where that can be told
    lines: tuple[Line, ...]  # one for each arm
    arms: tuple[Arm, ...]  # in the same order
    beside: tuple[Beside, ...]  # in the same order; none where pseudo-rewards cannot speak
    groups: tuple[Line, ...]
    groups_beside: tuple[Beside, ...]  # in the order of groups
    courses: tuple[Course, ...]  # of the arms with the strongest evidence
    fairness_regret_per_decision: float
    regret_from: str  # probabilities, propensities or shows
    regret_low: float  # between what it is at one look: fair shares come from estimated means
    regret_high: float
    regret_floor: float  # what an exactly fair log of this size shows on average
    over_time: tuple[Moment, ...]
    dated: bool
    distance: float  # sum of |exposure - fair share|
    gini_exposure: float
    gini_fair_share: float
    sample_ratio: SampleRatio
    sensitivity: tuple[Sensitivity, ...]
    columns: Mapping[str, str] = MappingProxyType({})  # of the log, and what it calls them
    start: float | None = None  # the first and last time, where those were logged
    stop: float | None = None
