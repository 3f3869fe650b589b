"""Every claim of the experiments, held against the runs."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fairx.experiments.outcome import Outcome

from . import comparison, exposure, linear, regret, yahoo
from .claim import FAILS, HOLDS, NOT_RUN, Claim, Missing, Statement

STATEMENTS = [
    *exposure.STATEMENTS,
    *regret.STATEMENTS,
    *comparison.STATEMENTS,
    *linear.STATEMENTS,
    *yahoo.STATEMENTS,
]


def claims(outcomes: Mapping[str, Outcome]) -> list[Claim]:
    """Return all claims of Section 5 and its appendix, in order, with verdicts.

    Parameters
    ----------
    outcomes
        By the name of the figure: fig1, fig2, fig3, figA1, ...

    Examples
    --------
    >>> first = claims({})[0]
    >>> first.verdict, first.reason
    ('not run', 'fig1 is not among the outcomes')
    """
    return [_claim(statement, outcomes) for statement in STATEMENTS]


def _claim(statement: Statement, outcomes: Mapping[str, Outcome]) -> Claim:
    words = (statement.sentence, statement.where, statement.statistic)
    try:
        found = statement.judge(*_needed(statement, outcomes))
    except Missing as missing:
        return Claim(*words, "", math.nan, math.nan, NOT_RUN, str(missing))
    numbers = (found.value, found.low, found.high)
    if found.holds:
        return Claim(*words, *numbers, HOLDS, "")
    return Claim(*words, *numbers, FAILS, found.reason + _caveat(statement, outcomes))


def _caveat(statement: Statement, outcomes: Mapping[str, Outcome]) -> str:
    scales = {outcomes[name].experiment.scale for name in statement.needs} - {"paper"}
    return (
        f" (at {' and '.join(sorted(scales))} scale; the claim is about the paper's)"
        if scales
        else ""
    )


def _needed(statement: Statement, outcomes: Mapping[str, Outcome]) -> list[Outcome]:
    for name in statement.needs:
        if name not in outcomes:
            raise Missing(f"{name} is not among the outcomes")
    return [outcomes[name] for name in statement.needs]
