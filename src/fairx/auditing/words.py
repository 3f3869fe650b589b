"""The finding of an audit in plain words: the sentence that a page begins with."""

from __future__ import annotations

import math

from .result import Audit, Beside, Line

ALIKE = "if the others were treated alike, that is {share} of its share"


def lead(audit: Audit) -> str:
    """Return the strongest finding and its range, or what could have been shown."""
    besides: list[Beside | None] = list(audit.beside) or [None] * len(audit.lines)
    accused = [
        (line, one)
        for line, one in zip(audit.lines, besides, strict=True)
        if line.verdict in ("under", "over")
    ]
    if not accused:
        return _nothing(audit)
    line, one = max(accused, key=lambda pair: _strength(*pair))
    more = len(accused) - 1
    others = f" {more:,} arms more are accused." if more > 1 else ""
    others = " One arm more is accused." if more == 1 else others
    if line.judged_by == "box" or one is None:
        return _by_box(line) + others
    return _by_pseudo_rewards(line, one, audit) + others


def _by_pseudo_rewards(line: Line, one: Beside, audit: Audit) -> str:
    sure = f"{100 * (1 - audit.alpha):g} % {audit.look}"
    what = (
        f"Beside the others, {line.arm} was shown {_times(one.beside)} as often as its rewards earn"
    )
    ends = f"{_number(one.beside_low)} to {_number(one.beside_high)}"
    alike = ALIKE.format(share=_percent(one.of_share))
    return f"{what} ({ends}, {sure}); {alike}."


def _by_box(line: Line) -> str:
    low, high = _percent(line.ratio_low), _percent(line.ratio_high)
    known = f"between {low} and {high}" if math.isfinite(line.ratio_high) else f"{low} or more"
    return (
        f"{line.arm} got {_percent(line.ratio)} of the share that its mean reward earns, {known}, "
        "if means do not vary."
    )


def _nothing(audit: Audit) -> str:
    """Say what could have been shown of the middle arm: no finding is not a finding of fairness."""
    fair = sum(line.verdict == "fair" for line in audit.lines)
    below = sorted(line.shown_below or 0.0 for line in audit.lines)
    middle = below[len(below) // 2]
    clear = (
        f" {fair:,} of {len(below):,} arms are fair, within {audit.tolerance:.0%}." if fair else ""
    )
    could = f"below {_percent(middle)} of what it earns" if middle > 0.005 else "that got nothing"
    return (
        f"No arm is shown to have had too little or too much.{clear} Of half of the arms, this log "
        f"could have shown it of one {could}, and of no milder case."
    )


def _strength(line: Line, one: Beside | None) -> float:
    """Return how far from fair the nearer end of the range is, as a logarithm."""
    by_box = line.judged_by == "box" or one is None
    low, high = (line.ratio_low, line.ratio_high) if by_box else (one.beside_low, one.beside_high)  # type: ignore[union-attr]
    end = high if line.verdict == "under" else low
    return math.inf if not end else abs(math.log(end)) if math.isfinite(end) else 0.0


def _times(value: float | None) -> str:
    return "times without number" if value is None else f"{_number(value)} times"


def _number(value: float | None) -> str:
    return "any number" if value is None else f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _percent(value: float | None) -> str:
    return "an unknown part" if value is None else f"{100 * value:,.0f} %"
