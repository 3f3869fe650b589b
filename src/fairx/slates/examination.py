"""What is seen of the places of a page: each reward, or that of a place which was looked at."""

from __future__ import annotations

from typing import Any

from fairx import rules
from fairx.types import Vector

LEAST = 1e-100  # chance of a look that can be told from none: its square is a number
FEEDBACK = {
    "each": "the reward of each place is seen",
    "examined": "a reward is seen where its place was looked at, and 0 otherwise",
}


def feedback_given(feedback: str, examination: Any) -> str:
    """Return the kind of feedback; chances of a look are of the one that needs them.

    Examples
    --------
    >>> feedback_given("each", [1, 0.5])
    Traceback (most recent call last):
    InvalidValue: examination must be left out for feedback='each': the reward of each place is seen
    """
    if feedback not in FEEDBACK:
        rule = f"be one of {', '.join(FEEDBACK)}, not {feedback!r}"
        raise rules.InvalidValue("feedback", rule + rules.nearest(str(feedback), FEEDBACK))
    if examination is not None and feedback != "examined":
        rule = f"be left out for feedback={feedback!r}: {FEEDBACK[feedback]}"
        raise rules.InvalidValue("examination", rule)
    return feedback


def chances_given(examination: Any, weights: Vector) -> Vector:
    """Return the chance that each place is looked at: its weight, unless something else is given.

    Examples
    --------
    >>> import numpy as np
    >>> chances_given([0.9, 0.2], np.array([1.0, 0.5]))
    array([0.9, 0.2])
    >>> chances_given(None, np.array([2.0, 1.0]))
    Traceback (most recent call last):
    InvalidValue: examination must be chances from 0 to 1, not 2.0: give them where weights are not
    """
    given = weights if examination is None else examination
    found = rules.array("examination", given, (weights.size,), "one per place").copy()
    for chance in found.tolist():
        if not 0 <= chance <= 1:
            rule = f"be chances from 0 to 1, not {chance}: give them where weights are not"
            raise rules.InvalidValue("examination", rule)
        if 0 < chance < LEAST:
            raise rules.InvalidValue("examination", f"be 0 or at least {LEAST:g}, not {chance:g}")
    if not found.max() > 0:
        raise rules.InvalidValue("examination", "be positive for some place, not all 0")
    return found


def check_clicks(policy: Any, chances: Vector, low: float, high: float) -> None:
    """Refuse a policy that cannot learn from clicks on such places, of rewards from `low` to `high`."""
    if hasattr(policy, "check_clicks"):
        policy.check_clicks(float(chances[chances > 0].min()), low, high)
