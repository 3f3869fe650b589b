"""The audit as the service answers it: the fields of `fairx.auditing`, without its dependencies.

A number is None where the audit has none (JSON has no NaN).
"""

from __future__ import annotations

from msgspec import Struct

Number = float | None


class Line(Struct, frozen=True):
    """One arm, or one group of arms: see `fairx.auditing.Line`."""

    arm: str | None
    shows: int
    exposure: Number
    exposure_low: Number
    exposure_high: Number
    fair_share: Number
    fair_low: Number
    fair_high: Number
    difference: Number
    difference_low: Number
    difference_high: Number
    ratio: Number
    ratio_low: Number
    ratio_high: Number
    verdict: str
    judged_by: str
    box: str
    shown_below: Number
    shown_above: Number
    fair_least: Number
    fair_most: Number
    verdicts: tuple[str, ...]


class Beside(Struct, frozen=True):
    """What one arm had beside the others over what its rewards earn: see `fairx.auditing.Beside`."""

    beside: Number
    beside_low: Number
    beside_high: Number
    of_share: Number
    of_share_low: Number
    of_share_high: Number
    beside_least: Number
    beside_most: Number
    accused: str
    since: int | None
    seen: bool


class Course(Struct, frozen=True):
    """One arm over time: see `fairx.auditing.Course`."""

    arm: str | None
    decisions: tuple[int, ...]
    times: tuple[Number, ...]
    beside: tuple[Number, ...]
    low: tuple[Number, ...]
    high: tuple[Number, ...]


class ArmRewards(Struct, frozen=True):
    """What is known of one arm's rewards: see `fairx.auditing.Arm`."""

    rewards: int
    missing: int
    late: int | None
    delay: Number
    mean: Number
    mean_low: Number
    mean_high: Number
    merit: Number
    merit_low: Number
    merit_high: Number
    delta_low: Number
    delta_high: Number
    group: str | None


class SampleRatio(Struct, frozen=True):
    """Whether arms were shown as often as their probabilities say."""

    method: str
    p_value: Number
    mismatched: tuple[str, ...]


class Sensitivity(Struct, frozen=True):
    """Verdicts and distance when the merit is raised to a power."""

    power: float
    under: int
    over: int
    unclear: int
    distance: Number


class Moment(Struct, frozen=True):
    """A stretch of time."""

    start: float
    stop: float
    decisions: int
    fairness_regret_per_decision: Number


class Audit(Struct, frozen=True):
    """The exposure of each arm beside what its merit earns: see `fairx.auditing.Audit`."""

    source: str
    merit: str
    floor: float
    alpha: float
    tolerance: float
    lowest_reward: Number
    highest_reward: Number
    rows: int
    decisions: int
    problems: dict[str, int]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    by: str | None
    judged_by: str
    look: str
    conditions: tuple[str, ...]
    impossible: int | None
    lines: tuple[Line, ...]
    arms: tuple[ArmRewards, ...]  # in the order of the lines
    beside: tuple[Beside, ...]  # in the same order, or none
    groups: tuple[Line, ...]
    groups_beside: tuple[Beside, ...]
    courses: tuple[Course, ...]
    fairness_regret_per_decision: Number
    regret_from: str
    regret_low: Number
    regret_high: Number
    regret_floor: Number
    over_time: tuple[Moment, ...]
    dated: bool
    distance: Number
    gini_exposure: Number
    gini_fair_share: Number
    sample_ratio: SampleRatio
    sensitivity: tuple[Sensitivity, ...]
    columns: dict[str, str]
    start: Number
    stop: Number
    snapshot: int


class Ends(Struct, frozen=True):
    """The lower and the upper ends of intervals, one of each for each arm."""

    low: tuple[Number, ...]
    high: tuple[Number, ...]


class SlateLine(Struct, frozen=True):
    """One arm, by the weight of places: see `fairx.auditing.slates.SlateLine`."""

    arm: str | None
    shows: int
    exposure: Number
    exposure_low: Number
    exposure_high: Number
    fair_share: Number
    fair_low: Number
    fair_high: Number
    verdict: str
    offered: int
    judged_by: str
    box: str
    shown_below: Number
    shown_above: Number


class SlateAudit(Struct, frozen=True):
    """The audit of slates: see `fairx.auditing.slates.SlateAudit`."""

    source: str
    merit: str
    floor: float
    alpha: float
    lowest_reward: Number
    highest_reward: Number
    decisions: int
    problems: dict[str, int]
    exposure_from: str
    lines: tuple[SlateLine, ...]
    means: tuple[Number, ...]  # in the order of the lines
    mean_box: Ends
    groups: tuple[SlateLine, ...]
    fairness_regret_per_decision: Number
    over_time: tuple[Moment, ...]
    distance: Number
    gini_exposure: Number
    gini_fair_share: Number
    mismatched: tuple[str, ...]
    judged_by: str
    conditions: tuple[str, ...]
    impossible: int | None
    beside: tuple[Beside, ...]  # in the order of the lines, or none
    groups_beside: tuple[Beside, ...]
    courses: tuple[Course, ...]
    snapshot: int
