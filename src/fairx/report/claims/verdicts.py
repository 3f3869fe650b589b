"""Every claim of the experiments, held against the runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fairx.experiments.outcome import Outcome
from fairx.simulation.bands import ALPHA

from . import comparison, exposure, linear, regret, unplayed
from .claim import CONTRADICTED, NOT_RUN, UNDECIDED, Claim, Finding, Missing, Statement
from .evidence import Evidence, check_every, gathered

STATEMENTS = [
    *exposure.STATEMENTS,
    *regret.STATEMENTS,
    *comparison.STATEMENTS,
    *linear.STATEMENTS,
    *unplayed.STATEMENTS,
]


def claims(outcomes: Mapping[str, Outcome], looks: int = 1) -> list[Claim]:
    """Return all claims of Section 5 and its appendix, in order, with verdicts.

    Parameters
    ----------
    outcomes
        By the name of the figure: fig1, fig2, fig3, figA1, ...
    looks
        How often runs may be added and looked at: each look has an alpha of 0.05 / looks.

    Examples
    --------
    >>> first = claims({})[0]
    >>> first.verdict, first.note
    ('not run', 'fig1 is not among the outcomes')
    """
    return corrected([_claim(statement, outcomes, looks) for statement in STATEMENTS])


def corrected(found: Sequence[Claim]) -> list[Claim]:
    """Return the claims with the verdicts that outlast Holm's correction.

    In the order of their p-values, claim i of n that rest on runs must keep alpha / (n - i), and so
    must all before it.
    """
    tested = sorted((claim.p_value, i) for i, claim in enumerate(found) if claim.runs)
    holm, going = {}, True
    for rank, (p_value, i) in enumerate(tested):
        going = going and p_value <= ALPHA / (len(tested) - rank)
        holm[i] = found[i].verdict if going else UNDECIDED
    return [claim._replace(holm=holm.get(i, claim.verdict)) for i, claim in enumerate(found)]


def _claim(statement: Statement, outcomes: Mapping[str, Outcome], looks: int) -> Claim:
    empty = Claim(
        statement.sentence, statement.where, statement.figures, NOT_RUN, NOT_RUN,
        statement.statistic, str(statement.rule) if statement.needs else "",
    )  # fmt: skip
    try:
        evidence = [gathered(group, outcomes) for group in statement.needs]
        for one in evidence:
            check_every(one, statement.every)
        found = statement.judge(*evidence)
    except Missing as missing:
        return empty._replace(note=str(missing))
    return _decided(empty, statement, found, evidence, looks)


def _decided(
    empty: Claim, statement: Statement, found: Finding, evidence: Sequence[Evidence], looks: int
) -> Claim:
    estimate, rule = found.estimate, statement.rule
    interval = estimate.at(ALPHA / looks)
    verdict = rule.verdict(interval)
    return empty._replace(
        verdict=verdict,
        holm=verdict,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        p_value=min(1.0, looks * rule.p_value(estimate)) if estimate.runs else math.nan,
        runs=estimate.runs,
        paired=estimate.paired,
        note="; ".join(filter(None, [found.note, _why(verdict, found, evidence)])),
    )


def _why(verdict: str, found: Finding, evidence: Sequence[Evidence]) -> str:
    """Return why a claim does not hold, as far as that is known."""
    scales = frozenset[str]().union(*(one.scales for one in evidence)) - {"paper"}
    caveat = f"at {' and '.join(sorted(scales))} scale; the claim is about the paper's"
    if verdict == UNDECIDED:
        return _undecided(found.estimate.runs, math.isinf(found.estimate.at(ALPHA).high))
    if verdict == CONTRADICTED:
        return "; ".join(filter(None, [found.reason, caveat if scales else ""]))
    return ""


def _undecided(runs: int, single: bool) -> str:
    if single:
        return "so few runs have no interval: at least two are needed, or three for their variance"
    return f"{runs} runs do not tell: they exclude what is outside the interval, and no more"
