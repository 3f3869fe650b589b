"""Rules that settings and data must keep: each error names the thing, the rule and the value."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.types import Vector

LEAST = 1e-300  # a range that is narrower is none: what is divided by it is infinite


class InvalidValue(ValueError):
    """A value that breaks a rule: what it is called, and what it must be.

    Examples
    --------
    >>> error = InvalidValue("floor", "be at most 0.5, not 2")
    >>> print(error)
    floor must be at most 0.5, not 2
    >>> error.field, InvalidValue("the highest reward", "be positive, not 0").field
    ('floor', None)
    """

    def __init__(self, name: str, rule: str) -> None:
        super().__init__(f"{name} must {rule}")
        self.name, self.rule = name, rule

    def __reduce__(self) -> tuple[Any, ...]:
        return InvalidValue, (self.name, self.rule)

    @property
    def field(self) -> str | None:
        """The setting or part of a request that this is about, unless it is a phrase."""
        return self.name if self.name.split() == [self.name] else None


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Return `value` as a finite number from `low` to `high`.

    Examples
    --------
    >>> number("epsilon", 2, low=0, high=1)
    Traceback (most recent call last):
    InvalidValue: epsilon must be a number from 0 to 1, not 2
    """
    try:
        found = math.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if math.isfinite(found) and low <= found <= high:
        return found
    rule = "finite" if low == -math.inf else f"at least {low:g} and finite"
    rule = rule if high == math.inf else f"a number from {low:g} to {high:g}"
    raise InvalidValue(name, f"be {rule}, not {value!r}")


def positive(name: str, value: Any) -> float:
    """Return `value` as a finite number above zero."""
    if number(name, value) > 0:
        return float(value)
    raise InvalidValue(name, f"be positive, not {value!r}")


def interval(name: str, value: Any) -> tuple[float, float]:
    """Return two numbers, the first below the second.

    Examples
    --------
    >>> interval("reward_range", (1, 0))
    Traceback (most recent call last):
    InvalidValue: reward_range must rise, not be (1, 0)
    """
    low, high = (number(name, end) for end in value)
    if not LEAST <= high - low < math.inf:
        raise InvalidValue(name, f"rise, not be {value!r}")
    return low, high


def count(name: str, value: Any, low: int = 1) -> int:
    """Return `value` as a whole number of at least `low`."""
    try:
        found = low - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        found = low - 1
    if found < low:
        raise InvalidValue(name, f"be a whole number of at least {low}, not {value!r}")
    return found


def array(name: str, value: npt.ArrayLike, shape: tuple[int | None, ...], hint: str = "") -> Vector:
    """Return `value` as a float array of `shape` (None: any length), all of it finite.

    Examples
    --------
    >>> array("contexts", [[1.0, 2.0]], (2, 2), "one row per arm on offer")
    Traceback (most recent call last):
    InvalidValue: contexts must have shape (2, 2), not (1, 2): one row per arm on offer
    """
    try:
        found = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValue(name, f"be an array of numbers, not {value!r}") from None
    found = found.reshape(np.shape(value))  # ascontiguousarray makes a vector of a number
    fits = len(shape) == found.ndim
    if not fits or any(n not in (None, found.shape[i]) for i, n in enumerate(shape)):
        wanted = str(tuple("any" if n is None else n for n in shape)).replace("'", "")
        because = f": {hint}" if hint else ""
        raise InvalidValue(name, f"have shape {wanted}, not {found.shape}{because}")
    if not np.isfinite(found).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(found))[0])
        raise InvalidValue(name, f"be finite, not {found[where]} at {where}")
    return found


def in_order(name: str, values: Iterable[Any]) -> list[Any]:
    """Return values as a list; a mapping or a set has no order of its own.

    Examples
    --------
    >>> in_order("rewards", {1: 0.5})
    Traceback (most recent call last):
    InvalidValue: rewards must be in an order, not {1: 0.5}: give a list
    """
    if isinstance(values, (Mapping, AbstractSet)):
        raise InvalidValue(name, f"be in an order, not {values!r}: give a list")
    return list(values)


def nearest(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a refusal: the name that was meant, or what is said where none is near.

    Examples
    --------
    >>> nearest("linaer", ["mab", "linear"]), nearest("?", ["mab"], otherwise="choose from mab")
    (": did you mean 'linear'?", ': choose from mab')
    """
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else otherwise
    return f": {hint}" if hint else ""
