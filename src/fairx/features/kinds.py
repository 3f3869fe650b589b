"""Kinds of features: what values one may have, and which tokens stand for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fairx import rules
from fairx.compiled import changed, record

from .tokens import MISSING, OTHERS, Token

# Whole numbers in a table with gaps become floats: 3.0 is the category 3.
TEXTS: dict[type, Callable[[Any], str | None]] = {
    str: str,
    bool: lambda value: str(value).lower(),
    int: str,
    float: lambda value: str(int(value)) if value.is_integer() else None,
}


@record
class Number(NamedTuple):
    """A feature that is a number, less `mean` and over `std`.

    Where it is `optional`, a missing one counts as the mean, and has a column of its own that says so.

    Examples
    --------
    >>> Number(mean=40, std=10).read("age", 25)
    [((('age', None),), -1.5)]
    >>> Number().read("age", "old")
    Traceback (most recent call last):
    InvalidValue: feature 'age' must be finite, not 'old'
    """

    mean: float = 0.0
    std: float = 1.0
    optional: bool = False

    def checked(self) -> Number:
        """Refuse a scale that is none."""
        rules.number("mean", self.mean)
        rules.positive("std", self.std)
        return self

    def tokens(self, name: str) -> list[Token]:
        """Return all tokens there can be."""
        return [((name, None),), *([((name, MISSING),)] if self.optional else [])]

    def read(self, name: str, value: Any) -> list[tuple[Token, float]]:
        """Return the tokens of a value, each with a number."""
        if is_missing(value):
            return _missing(self, name)
        number = rules.number(f"feature {name!r}", value)
        return [(((name, None),), (number - self.mean) / self.std)]


@record
class Category(NamedTuple):
    """A feature that is one of some texts or whole numbers, each with a column of its own.

    Parameters
    ----------
    values
        What it can be. None at all stands for anything: then `Features` must be hashed.
    optional
        Whether it may be missing, which then has a column of its own.
    others
        Whether it may be something else, which then has a column of its own; else that is refused.

    Examples
    --------
    >>> Category(["phone", "desktop"]).read("device", "phone")
    [((('device', 'phone'),), 1.0)]
    >>> Category(["phone", "desktop"]).read("device", "fone")
    Traceback (most recent call last):
    InvalidValue: feature 'device' must be one of phone, desktop, not 'fone': did you mean 'phone'?
    """

    values: Sequence[Any] = ()
    optional: bool = False
    others: bool = False

    def checked(self) -> Category:
        """Refuse values that are the same, or no texts."""
        if isinstance(self.values, str):
            raise rules.InvalidValue("values", f"be a list, not {self.values!r}")
        values = tuple(text_of("values", value) for value in self.values)
        if len(set(values)) < len(values):
            raise rules.InvalidValue("values", f"be distinct, not {values!r}")
        return changed(self, values=values)

    def tokens(self, name: str) -> list[Token]:
        """Return all tokens that are known beforehand."""
        known: list[Any] = [*self.values]
        known += [MISSING] if self.optional else []
        known += [OTHERS] if self.others else []
        return [((name, found),) for found in known]

    def read(self, name: str, value: Any) -> list[tuple[Token, float]]:
        """Return the token of a value."""
        if is_missing(value):
            return _missing(self, name)
        text = text_of(f"feature {name!r}", value)
        if self.values and text not in self.values:
            if not self.others:
                near = rules.nearest(text, self.values)
                rule = f"be one of {', '.join(self.values)}, not {value!r}{near}"
                raise rules.InvalidValue(f"feature {name!r}", rule)
            return [(((name, OTHERS),), 1.0)]
        return [(((name, text),), 1.0)]


def _missing(kind: Any, name: str) -> list[tuple[Token, float]]:
    if not kind.optional:
        rule = "be given: a kind with optional=True may be missing"
        raise rules.InvalidValue(f"feature {name!r}", rule)
    return [(((name, MISSING),), 1.0)]


def text_of(name: str, value: Any) -> str:
    """Return a value as the text of a category."""
    plain = value.item() if hasattr(value, "item") else value  # a number of NumPy
    text = TEXTS.get(type(plain), lambda _: None)(plain)
    if text is None:
        raise rules.InvalidValue(name, f"be a text or a whole number, not {value!r}")
    return text


def is_missing(value: Any) -> bool:
    """Tell whether there is no value: nothing, no number, or what a table has for a gap.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    gap = value is None or type(value).__name__ in ("NAType", "NaTType")
    return gap or (isinstance(value, float) and math.isnan(value))
