"""What policies around another policy of ours ask of it."""

from __future__ import annotations

from typing import Any

from fairx import rules
from fairx.texts import short

from .base import least_arms
from .telling import is_told


def check_inner(policy: Any) -> None:
    """Refuse to wrap what has no inner form.

    Examples
    --------
    >>> check_inner(3)
    Traceback (most recent call last):
    InvalidValue: policy must be a policy of fairx, not 3: one with needs, propose and absorb
    """
    if not all(hasattr(policy, name) for name in ("needs", "propose", "absorb", "start")):
        rule = f"be a policy of fairx, not {policy!r}: one with needs, propose and absorb"
        raise rules.InvalidValue("policy", rule)


def check_counting(policy: Any) -> None:
    """Refuse a policy whose state does not follow from counts and sums of rewards.

    Examples
    --------
    >>> from fairx import LinTS
    >>> check_counting(LinTS(1, 1))
    Traceback (most recent call last):
    InvalidValue: policy must follow from counts and sums of rewards alone, not LinTS(prior_std=1.0, reward_std=1.0)
    """
    check_inner(policy)
    fields = getattr(policy.start(least_arms(policy), 1), "_fields", ())
    if is_told(policy) or not {"pulls", "reward_sums"} <= set(fields) or "squares" in fields:
        rule = f"follow from counts and sums of rewards alone, not {short(policy)}"
        raise rules.InvalidValue("policy", rule)
