"""What an audit found."""

from __future__ import annotations

from typing import Any, NamedTuple


class Line(NamedTuple):
    """One arm, or one group of arms. Its verdict is by the always-valid box."""

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
    verdict: str  # under, over or unclear
    verdicts: tuple[str, ...]  # for each power of the merit in the audit's sensitivity


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
    lowest_reward: float
    highest_reward: float
    rows: int
    decisions: int
    problems: dict[str, int]
    notes: tuple[str, ...]
    lines: tuple[Line, ...]  # one for each arm
    arms: tuple[Arm, ...]  # in the same order
    groups: tuple[Line, ...]
    fairness_regret_per_decision: float
    regret_from: str  # probabilities, propensities or shows
    over_time: tuple[Moment, ...]
    dated: bool
    distance: float  # sum of |exposure - fair share|
    gini_exposure: float
    gini_fair_share: float
    sample_ratio: SampleRatio
    sensitivity: tuple[Sensitivity, ...]
