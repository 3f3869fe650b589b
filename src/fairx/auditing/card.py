"""What an audit was told and given: a card to hand over."""

from __future__ import annotations

from datetime import UTC, datetime

from .result import Audit
from .speaking import RATINGS
from .tables import guarantee

TOGETHER = "Bonferroni's, over arms and groups"


def card(audit: Audit) -> dict[str, str]:
    """Return the parameters of an audit and its data, in words.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairx import Exponential
    >>> from fairx.auditing import audit
    >>> found = card(audit(pd.DataFrame({"arm": ["a", "b"], "reward": [0.0, 1.0]}), Exponential(1)))
    >>> found["merit"], found["strata of the box"]
    ('Exponential(steepness=1.0) of the mean reward', 'none')
    """
    of = "the rating of an arm" if audit.judged_by == RATINGS else "the mean reward"
    once = audit.look.startswith("once")
    came, missing = sum(arm.rewards for arm in audit.arms), sum(arm.missing for arm in audit.arms)
    return {
        "merit": f"{audit.merit} of {of}",
        "range of rewards": f"{audit.lowest_reward:g} to {audit.highest_reward:g}",
        "floor": guarantee(audit) or "none",
        "alpha": f"{audit.alpha:g}",
        "looked at": audit.look,
        "correction": audit.look.split("with ")[-1] if once else TOGETHER,
        "tolerance": f"{audit.tolerance:g}: within it an arm is fair",
        "strata of the box": audit.by or "none",
        "units": _units(audit),
        "judged by": audit.judged_by,
        "exposure": _exposure(audit),
        "candidates": "logged" if "candidates" in audit.columns else "not logged, see the notes",
        "log": audit.source,
        "rows": f"{audit.rows:,}, with {sum(audit.problems.values()):,} problems",
        "decisions": f"{audit.decisions:,} among {len(audit.lines):,} arm{'s'[: len(audit.lines) != 1]}",
        "rewards": f"{came:,}, and {missing:,} missing",
        "period": _period(audit),
        "columns": ", ".join(f"{ours} ({theirs})" for ours, theirs in audit.columns.items()),
    }


def _units(audit: Audit) -> str:
    named = audit.columns.get("unit")
    return f"{named}: the first decision of each takes part" if named else "none: each decision"


def _exposure(audit: Audit) -> str:
    if audit.lines[0].exposure_low < audit.lines[0].exposure_high:
        return "estimated from what was shown, with an interval"
    return "known: from logged " + (
        "exposures" if "exposures" in audit.columns else "probabilities"
    )


def _period(audit: Audit) -> str:
    if audit.start is None or audit.stop is None:
        return "not logged"
    ends = (audit.start, audit.stop)
    if not audit.dated:
        return "{:g} to {:g}".format(*ends)
    first, last = (f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d %H:%M}" for end in ends)
    return f"{first} to {last} UTC"
