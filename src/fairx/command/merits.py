"""Merits in one word on the command line: a kind and its numbers."""

from __future__ import annotations

import argparse
import re
from typing import Any

from fairx import rules
from fairx.merit import Affine, Exponential, Logistic, Merit, PiecewiseLinear, Power

FORMS: dict[str, Any] = {
    "exponential": Exponential,
    "affine": Affine,
    "power": Power,
    "logistic": Logistic,
}
SPELLINGS = {kind: f"{kind}:{','.join(form._fields).upper()}" for kind, form in FORMS.items()}
SPELLINGS["piecewise"] = "piecewise:MEAN=MERIT,MEAN=MERIT,..."
HELP = ", ".join(SPELLINGS.values())


def merit(words: str) -> Merit:
    """Return the merit that a word names; colons may stand for commas.

    Examples
    --------
    >>> merit("exponential:10"), merit("affine:2,0.5")
    (Exponential(steepness=10.0), Affine(slope=2.0, intercept=0.5))
    >>> merit("piecewise:0=1,0.5=1,1=3")
    PiecewiseLinear(knots=(0.0, 0.5, 1.0), values=(1.0, 1.0, 3.0))
    >>> merit("exponentail:10")
    Traceback (most recent call last):
    ValueError: merit must be one of exponential, affine, power, logistic, piecewise, not 'exponentail': did you mean 'exponential'?
    """
    kind, _, rest = words.partition(":")
    if kind not in SPELLINGS:
        rule = f"one of {', '.join(SPELLINGS)}"
        raise ValueError(f"merit must be {rule}, not {kind!r}{rules.nearest(kind, SPELLINGS)}")
    parts = [_numbers(part) for part in re.split("[,:]", rest)]
    if kind == "piecewise" and all(len(part) == 2 for part in parts):
        knots, values = zip(*parts, strict=True)
        return PiecewiseLinear(knots, values)
    if kind in FORMS and [len(part) for part in parts] == [1] * len(FORMS[kind]._fields):
        found: Merit = FORMS[kind](*(number for (number,) in parts))
        return found
    raise ValueError(f"merit must be {SPELLINGS[kind]}, not {words!r}")


def option(words: str) -> Merit:
    """Return the merit of an option, whose mistakes are told with the usage."""
    try:
        return merit(words)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _numbers(text: str) -> list[float]:
    """Return the numbers of NUMBER or NUMBER=NUMBER; none where they are not numbers."""
    try:
        return [float(number) for number in text.split("=")]
    except ValueError:
        return []
