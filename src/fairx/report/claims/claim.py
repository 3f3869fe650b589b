"""What a claim of the paper is, and the one rule that decides it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from fairx.report.estimates import Estimate, Missing
from fairx.simulation.bands import Interval

HOLDS, CONTRADICTED, UNDECIDED, NOT_RUN = "holds", "contradicted", "undecided", "not run"
VERDICTS = (HOLDS, CONTRADICTED, UNDECIDED, NOT_RUN)
DECIDED = (HOLDS, CONTRADICTED)
TINY = 1e-12  # no chance of error is told below it


class Rule(NamedTuple):
    """The claim holds where its number is between `low` and `high`.

    Examples
    --------
    >>> rule = Rule(low=2)
    >>> str(rule), rule.verdict(Interval(3, 2.5, 3.5)), rule.verdict(Interval(3, 1.5, 4.5))
    ('above 2', 'holds', 'undecided')
    >>> str(Rule(0.4, 0.6)), Rule(0.4, 0.6).verdict(Interval(0.7, 0.65, 0.75))
    ('from 0.4 to 0.6', 'contradicted')
    """

    low: float = -math.inf
    high: float = math.inf

    def holds(self, found: Interval) -> Any:
        """Tell whether the whole interval is between the margins."""
        return (found.low > self.low) & (found.high < self.high)

    def contradicts(self, found: Interval) -> Any:
        """Tell whether the whole interval is on the other side of a margin."""
        return (found.high < self.low) | (found.low > self.high)

    def verdict(self, found: Interval) -> str:
        """Return holds, contradicted or undecided: an interval on both sides decides nothing."""
        if self.holds(found):
            return HOLDS
        return CONTRADICTED if self.contradicts(found) else UNDECIDED

    def p_value(self, estimate: Estimate) -> float:
        """Return the least alpha at which the interval decides, 1 if none below a half does."""
        if self.verdict(estimate.at(0.5)) == UNDECIDED:
            return 1.0
        low, high = math.log(TINY), math.log(0.5)  # intervals shrink as alpha grows
        while high - low > 1e-3:
            middle = (low + high) / 2
            if self.verdict(estimate.at(math.exp(middle))) == UNDECIDED:
                low = middle
            else:
                high = middle
        return math.exp(high)

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"above {self.low:g}"
        if math.isinf(self.low):
            return f"below {self.high:g}"
        return f"from {self.low:g} to {self.high:g}"


class Claim(NamedTuple):
    """A sentence of the paper and what our runs say to it."""

    sentence: str
    where: str
    figures: tuple[str, ...]  # by our names: those that can show it
    verdict: str  # one of VERDICTS
    holm: str  # the verdict by Holm's correction for all claims that were run
    statistic: str
    rule: str
    value: float = math.nan  # nan where it was not run
    low: float = math.nan  # ends of the interval that decides
    high: float = math.nan
    p_value: float = math.nan
    runs: int = 0
    paired: bool | None = None  # run by run; None where nothing is compared
    note: str = ""  # more of what was found, or why it was not run


class Finding(NamedTuple):
    """What was measured."""

    estimate: Estimate
    note: str = ""
    reason: str = ""  # the likeliest, should the claim be contradicted


class Statement(NamedTuple):
    """A claim before the runs: `judge` takes the evidence of each group of figures it `needs`."""

    sentence: str
    where: str
    statistic: str
    rule: Rule
    needs: tuple[tuple[str, ...], ...]  # groups that show the same: one figure of each will do
    judge: Callable[..., Finding]
    every: tuple[
        float, ...
    ] = ()  # the steepness of all merits that it is about, where it is about all

    @property
    def figures(self) -> tuple[str, ...]:
        """All figures that can show it."""
        return tuple(name for group in self.needs for name in group)


__all__ = ["CONTRADICTED", "DECIDED", "HOLDS", "NOT_RUN", "UNDECIDED", "VERDICTS",
           "Claim", "Finding", "Missing", "Rule", "Statement"]  # fmt: skip
