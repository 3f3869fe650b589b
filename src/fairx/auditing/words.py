"""The finding of an audit in plain words, what it assumed, and what is lost for want of a column."""

from __future__ import annotations

import math

from fairx.logs import Log
from fairx.texts import several

from .result import Audit, Beside, Line
from .speaking import BOX, RATINGS
from .sums import LogSums

ALIKE = "if the others were treated alike"
NO_CANDIDATES = "The log does not say which arms were on offer: all are taken to be, always."
ARRIVED = (
    "The log does not say which arms were on offer. {} later than chance accounts for, and {} taken to "
    "be on offer from then on; all others always."
)
NO_VECTORS = (
    "The log does not have the probabilities of all candidates: exposure is the share of shows, "
    "with an interval, and half of alpha is spent on it. Verdicts need more data for it."
)
NO_PROPENSITIES = (
    "The log has no propensities: the fairness regret is that of the shows on average, it cannot "
    "be told over time, and shows cannot be checked against probabilities."
)
ONLY_PROPENSITIES = (
    "The fairness regret is estimated from the propensities of the arms shown, not exact."
)
MISSING = (
    "They count as exposure and tell nothing of merit: where rewards go missing because of what "
    "they are, merit is biased."
)
UNREWARDED = "Without rewards a mean may be anything that is possible; where one number is needed it is that of all arms."
TURNED = (
    "{accused} accused beside the others of the contrary of what mean rewards say ({arm} is {verdict}, with {ratio:.2f} times the share that its mean reward earns): others are "
    "farther from fair, or means vary. Then nothing is said of its share."
)
NO_TIME = "The log has no times: its rows are taken to be in the order of the decisions, and nothing can be shown over time."


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
    line, one = max(accused, key=lambda pair: (not turned(pair[0]), _strength(*pair)))
    more = len(accused) - 1
    others = f" {more:,} arms more are accused." if more > 1 else ""
    others = " One arm more is accused." if more == 1 else others
    if one is None or line.judged_by == "box":
        return _by_box(line) + others
    return _by_pseudo_rewards(line, one, audit) + others


def _by_pseudo_rewards(line: Line, one: Beside, audit: Audit) -> str:
    sure = f"{100 * (1 - audit.alpha):g} % {audit.look}"
    ends = f"{_number(one.beside_low)} to {_number(one.beside_high)}"
    beside = f"eside the others, it was shown {_times(one.beside)} as often as its rewards earn"
    if (
        turned(line)
        or one.of_share is None
        or one.of_share_high is None
        or one.of_share_low is None
    ):
        return f"{line.arm}: b{beside} ({ends}, {sure})."
    low, high = _percent(one.of_share_low), _percent(one.of_share_high)
    share = f"{line.arm} got {_percent(one.of_share)} of its share, between {low} and {high}"
    return f"{share}, {ALIKE}. B{beside} ({ends}, {sure})."


def turned(line: Line) -> bool:
    """Tell an arm whose average exposure points the other way than its verdict."""
    contrary = {"under": line.ratio > 1, "over": line.ratio < 1}
    return line.judged_by != BOX and contrary.get(line.verdict, False)


def turned_notes(lines: tuple[Line, ...]) -> list[str]:
    """Say which verdicts would surprise whoever compares exposure with the fair share."""
    found = [line for line in lines if turned(line)]
    if not found:
        return []
    worst = max(found, key=lambda line: abs(math.log(line.ratio)) if line.ratio else math.inf)
    return [TURNED.format(accused=several(len(found), "arm is", "arms are"), **worst._asdict())]


def _by_box(line: Line) -> str:
    low, high = _percent(line.ratio_low), _percent(line.ratio_high)
    known = f"between {low} and {high}" if math.isfinite(line.ratio_high) else f"{low} or more"
    if line.judged_by == RATINGS:
        sure = f", {known}" if line.ratio_low < line.ratio_high else ""
        return f"{line.arm} got {_percent(line.ratio)} of the share that its rating earns{sure}."
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
        f" {fair:,} of {several(len(below), 'arm', 'arms')} {'is' if fair == 1 else 'are'} fair, within {audit.tolerance:.0%}."
        if fair
        else ""
    )
    nobody = (
        f"No arm is shown to have had too little or too much.{clear} Of half of the arms, this log "
    )
    if middle < 0.005:
        return nobody + "could at most have shown it of one that got next to nothing."
    return nobody + (
        f"could have shown it of one below {_percent(middle)} of what it earns, and of no milder case."
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


def left_out_of(rows: int, among: int, why: str = "") -> str:
    """Say how many rows have a problem."""
    has, takes = ("has", "takes") if rows == 1 else ("have", "take")
    return f"{rows:,} of {several(among, 'row', 'rows')} {has} a problem{why} and {takes} no part."


def _arrived(number: int) -> str:
    first = several(number, "arm first appears", "arms first appear")
    return ARRIVED.format(first, "is" if number == 1 else "are")


def notes(log: Log, sums: LogSums, ungrouped: int, arrived: int) -> tuple[str, ...]:
    """Return a sentence for each thing that a reader must know."""
    decisions = int(sums.pools.decisions.sum())
    missing = decisions - int(sums.rewards.sum())
    unrewarded = int((sums.rewards == 0).sum())
    left_out = sums.rows - decisions
    said = (
        (left_out, left_out_of(left_out, sums.rows)),
        ("candidates" not in log.columns and not arrived, NO_CANDIDATES),
        (arrived, _arrived(arrived)),
        (sums.exposure is None, NO_VECTORS),
        (sums.inverse is None, NO_PROPENSITIES),
        (sums.exposure is None and sums.inverse is not None, ONLY_PROPENSITIES),
        ("time" not in log.columns, NO_TIME),
        (missing, f"{several(missing, 'decision has', 'decisions have')} no reward. {MISSING}"),
        (unrewarded, f"{several(unrewarded, 'arm has', 'arms have')} no reward. {UNREWARDED}"),
        (ungrouped, f"{several(ungrouped, 'arm has', 'arms have')} no group."),
    )
    return tuple(words for holds, words in said if holds)
