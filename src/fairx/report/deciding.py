"""Runs until decided: more of them, look by look, while a claim of their figures is undecided."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fairx.experiments.outcome import Outcome
from fairx.experiments.specification import Experiment

from .claims import LOOKS, UNDECIDED, Claim, claims, looks, settled

Told = Callable[[int, dict[str, int], list[Claim]], None]


def decide(
    experiments: Sequence[Experiment],
    cap: int,
    played: Callable[[Experiment], Outcome],
    told: Told = lambda look, runs, found: None,
) -> tuple[dict[str, Outcome], list[Claim]]:
    """Return the outcomes and the claims after as many runs as it takes, at most `cap`.

    Parameters
    ----------
    experiments
        Figures of the paper; the first look is at the runs that they have anyway.
    cap
        The runs of the last look.
    played
        Returns the outcome of an experiment, by playing what of it is missing.
    told
        Called after each look with its number, the runs of each figure and the claims.

    Notes
    -----
    `fairx.report.claims.looks` says why this keeps the chance of a wrong verdict. A verdict stays,
    whatever the runs say that are added for the sake of other claims.
    """
    planned = {one.name: looks(one.runs, cap) for one in experiments}
    outcomes: dict[str, Outcome] = {}
    found: list[Claim] = []
    wanted = set(planned)
    for look in range(LOOKS):
        for one in experiments:
            if one.name in wanted:
                now = played(one._replace(runs=planned[one.name][look]))
                outcomes[one.name] = _fuller(outcomes.get(one.name, now), now)
        found = settled(found, claims(outcomes, LOOKS))
        told(look + 1, {name: one.experiment.runs for name, one in outcomes.items()}, found)
        wanted = {name for one in found if one.verdict == UNDECIDED for name in one.figures}
        if wanted.isdisjoint(planned):
            break
    return outcomes, found


def _fuller(before: Outcome, now: Outcome) -> Outcome:
    """Return the outcome after more runs, or that before if they are not there."""
    return now if len(now.panels) >= len(before.panels) else before
