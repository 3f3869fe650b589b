"""What an audit assumed, and what is lost for want of a column."""

from __future__ import annotations

from fairx.logs import Log

from .sums import LogSums

NO_CANDIDATES = "The log does not say which arms were on offer: all are taken to be, always."
ARRIVED = (
    "The log does not say which arms were on offer. {:,} arms first appear later than chance accounts "
    "for, and are taken to be on offer from then on; all others always."
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
UNREWARDED = "Their mean may be anything that is possible; where one number is needed it is that of all arms."
NO_TIME = "The log has no times: nothing can be shown over time."


def notes(log: Log, sums: LogSums, ungrouped: int, arrived: int) -> tuple[str, ...]:
    """Return a sentence for each thing that a reader must know."""
    decisions = int(sums.pools.decisions.sum())
    missing = decisions - int(sums.rewards.sum())
    unrewarded = int((sums.rewards == 0).sum())
    left_out = sums.rows - decisions
    said = (
        (left_out, f"{left_out:,} of {sums.rows:,} rows have a problem and take no part."),
        ("candidates" not in log.columns and not arrived, NO_CANDIDATES),
        (arrived, ARRIVED.format(arrived)),
        (sums.exposure is None, NO_VECTORS),
        (sums.inverse is None, NO_PROPENSITIES),
        (sums.exposure is None and sums.inverse is not None, ONLY_PROPENSITIES),
        ("time" not in log.columns, NO_TIME),
        (missing, f"{missing:,} decisions have no reward. {MISSING}"),
        (unrewarded, f"{unrewarded:,} arms have no reward. {UNREWARDED}"),
        (ungrouped, f"{ungrouped:,} arms have no group."),
    )
    return tuple(words for holds, words in said if holds)
