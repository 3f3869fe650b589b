"""Policies around another policy of ours, whose probabilities they change and whose state they keep."""

from __future__ import annotations

from typing import Any

from fairx import rules


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
