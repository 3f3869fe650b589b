"""A setting that is one number for all arms, or one for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairx import rules
from fairx.types import Vector


def checked_shares(name: str, value: Any) -> Any:
    """Return a number from 0 to 1, or a tuple of them, of which all arms can have theirs.

    Examples
    --------
    >>> checked_shares("rates", [0.5, 1])
    Traceback (most recent call last):
    InvalidValue: the sum of the rates must be a number from 0 to 1, not 1.5
    """
    if np.ndim(value) == 0:
        return rules.number(name, value, low=0, high=1)
    shares = tuple(rules.array(name, value, (None,)).tolist())
    for share in shares:
        rules.number(f"each of the {name}", share, low=0, high=1)
    rules.number(f"the sum of the {name}", sum(shares), low=0, high=1)
    return shares


def for_each(name: str, shares: Any, arms: int) -> Vector:
    """Return what was checked as a number for each of these arms.

    Examples
    --------
    >>> for_each("rates", 0.1, 3)
    array([0.1, 0.1, 0.1])
    >>> for_each("rates", 0.5, 3)
    Traceback (most recent call last):
    InvalidValue: rates must be at most 1 in all, not 1.5: 0.5 for each of 3 arms
    """
    if np.ndim(shares) == 0:
        whole = float(shares) * arms
        if whole > 1.0 + 1e-12:  # 1 / K, K times, may be a little more
            rule = f"be at most 1 in all, not {whole:g}: {shares:g} for each of {arms} arms"
            raise rules.InvalidValue(name, rule)
        return np.full(arms, float(shares))
    if arms != len(shares):
        rule = f"be one for each of the {arms} arms, not {len(shares)}, or one number for all"
        raise rules.InvalidValue(name, rule)
    return np.array(shares)
