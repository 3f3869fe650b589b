"""Who got less exposure than their merit earns, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairx import rules
from fairx.logs import Log, read
from fairx.logs.sources import readable
from fairx.merit import Merit, check_conditions
from fairx.moved import renamed

from .result import Audit

if TYPE_CHECKING:
    from .question import Question
    from .ratings import Ratings


def audit(
    log: Log | Any,
    merit: Merit,
    *,
    floor: float = 0.0,
    groups: Mapping[Any, str] | None = None,
    alpha: float = 0.05,
    reward_range: tuple[float, float] = (0.0, 1.0),
    late: float = math.inf,
    by: str | None = None,
    tolerance: float = 0.1,
    arms: Sequence[Any] = (),
    look: str = "always",
    correction: str = "bonferroni",
    ratings: Mapping[Any, float] | bool = False,
    feedback: str = "each",
    columns: Mapping[str, str] | None = None,
    rewards: tuple[float, float] | None = None,
) -> Audit:
    """Compare the exposure of each arm with the share that its merit earns.

    Parameters
    ----------
    log
        A log of `fairx.logs.read`, or anything that takes.
    merit
        What exposure should be in proportion to. It is a choice: see `Audit.sensitivity`.
    floor
        What each arm on offer is due of every decision; merit shares out the rest. Among K arms
        the fair share is floor + (1 - K floor) f / sum of f.
    groups
        The group of each arm; groups are judged like arms.
    alpha
        The chance that any arm of a fair log is ever accused, over all looks at it.
    reward_range
        The lowest and highest reward that is possible; others are refused.
    late
        Rewards that take longer than this, in the unit of time of the log, are counted as late.
    by
        What the box is stratified by: "time:hour" (of the day), "time:day", or the name of the
        column that `columns` has as `stratum`. Within a stratum means are taken not to vary.
    tolerance
        An arm is `fair` where all of its interval is within this of 1: of what its rewards earn
        beside the others, or of its share.
    arms
        Names of arms that were on offer, also those that were never shown, where the log does not
        have candidates.
    look, correction
        "always", or "once" for a finished archive: a single look that was declared before, with
        the tests of all arms corrected by "bonferroni" or, for a longer list of which at most alpha
        are false on average, "bh".
    ratings
        Merit from outside, in place of rewards: the rating of each arm, or True where the column
        that is read as `reward` has them. They are taken to be known, and `reward_range` is theirs.
    feedback
        Of a log of slates, which has a row for each decision and place: "each" where a reward
        depends on its arm alone, "examined" where it is a click, 0 where the place was not looked at.
    columns
        As for `read`.
    rewards
        The old spelling of `reward_range`.

    Notes
    -----
    Where probabilities were logged and the merit allows it, pseudo-rewards judge: an arm is `under`
    (`over`) where it had less (more) beside the others than its rewards earn, whatever the means
    are. Else the box does: where all of its exposure's interval is below (above) all fair
    shares that the always-valid box of means allows; else `unclear`. Exposure is the average of
    the logged probabilities, known exactly; where only shows are known it has an interval too, and
    alpha is divided between the two.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairx import Exponential
    >>> shown = pd.DataFrame({"arm": ["a"] * 900 + ["b"] * 100, "reward": [0.0, 1.0] * 500})
    >>> found = audit(shown, Exponential(1))
    >>> [(line.arm, line.exposure, round(line.fair_share, 6), line.verdict) for line in found.lines]
    [('a', 0.9, 0.5, 'over'), ('b', 0.1, 0.5, 'under')]
    """
    try:
        from .once import declared
        from .question import Question
    except ImportError as error:
        raise ImportError("an audit needs scipy: pip install 'fairx[logs]'") from error
    reward_range = renamed("rewards", rewards, "reward_range", reward_range)
    if not 0 < alpha < 1:
        raise rules.InvalidValue("alpha", f"be between 0 and 1, not {alpha!r}")
    looked = declared(look, correction, by)
    tolerance = rules.number("tolerance", tolerance, low=0, high=0.99)
    floor = rules.number("floor", floor, low=0, high=1)
    low, high = (rules.number(f"reward_range[{i}]", end) for i, end in enumerate(reward_range))
    rules.positive("the highest reward less the lowest", high - low)
    rules.interval("reward_range", (low, high))
    check_conditions(merit, low, high)
    if not merit.log(high) < 700:
        raise rules.InvalidValue("merit", f"be below 1e300, but {merit} is not at mean {high:g}")
    known = _known(ratings)
    question = Question(merit, groups or {}, alpha, (low, high), by, tolerance, looked, known)
    return _audited(
        log if isinstance(log, Log) else read(log, columns), question, floor, late, arms, feedback
    )


def _audited(
    found: Log, question: Question, floor: float, late: float, arms: Sequence[Any], feedback: str
) -> Audit:
    """Audit a log of decisions, or of slates."""
    from .judging import judged
    from .prepared import prepared
    from .shares import floored
    from .strata import stratum
    from .sums import log_sums

    question.check(found, late if late < math.inf else None, len(arms))
    if "place" in found.columns:
        return _of_slates(found, question, floor, feedback)
    if feedback != "each":
        raise ValueError(
            f"feedback must be 'each', not {feedback!r}, for a log without places: "
            "there each decision shows one arm"
        )
    if len(arms) and "candidates" in found.columns:
        raise ValueError(
            "arms must not be given where the log has candidates: it says who was on offer"
        )
    with readable(found.source):
        tables = prepared(found, float(late), stratum(found, question.by), arms)
        sums = log_sums(tables)
    low, high = question.reward_range
    if not question.rated and (sums.least < low or sums.most > high):
        worst = sums.least if sums.least < low else sums.most
        raise rules.InvalidValue(
            "rewards",
            f"be from {low:g} to {high:g}, not {worst:g}: "
            "give their range as reward_range=(low, high) or --reward-range LOW HIGH",
        )
    return judged(tables, sums._replace(pools=floored(sums.pools, floor)), question)


def _known(ratings: Mapping[Any, float] | bool) -> Ratings | None:
    if not ratings:
        return None
    from .ratings import Ratings

    return Ratings(ratings)


def _of_slates(found: Log, question: Question, floor: float, feedback: str) -> Audit:
    from .slates.judging import SlateQuestion
    from .slates.whole import slates_audited

    merit, groups, alpha, reward_range, _, tolerance, *_ = question
    asked = SlateQuestion(merit, groups, alpha, reward_range, tolerance, feedback, floor)
    return slates_audited(found, asked)
