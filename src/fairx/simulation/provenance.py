"""Where a result comes from, as texts that tell one experiment from another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fairx.compiled import Key, is_our_class
from fairx.texts import CUT, short
from fairx.version import __version__

from .places import Places


class Provenance(NamedTuple):
    """All that the runs of a result depend on, but their numbers."""

    policy: str
    environment: str
    judge: str
    seed: int
    rounds: int  # the horizon
    version: str  # of fairx
    measures: tuple[str, ...] = ()  # of the user's
    weights: tuple[float, ...] = ()  # of places, where there are several
    feedback: str = ""  # from places
    examination: tuple[float, ...] = ()  # of places, where not every reward is seen


def provenance(
    policy: Any, environment: Any, judge: Any, seed: int, rounds: int, measures: Mapping[str, Any],
    places: Places | None = None,
) -> Provenance:  # fmt: skip
    """Return where a result comes from, in words."""
    texts = identified(policy), identified(environment), identified(judge)
    told = tuple(f"{name}: {identified(function)}" for name, function in measures.items())
    found = Provenance(*texts, seed, rounds, __version__, told)
    if places is None:
        return found
    chances = () if places.feedback == "each" else tuple(places.examination.tolist())
    return Provenance(*found[:7], tuple(places.weights.tolist()), places.feedback, chances)


def identified(value: Any) -> str:
    """Return a short text that tells a record from all others: of its settings, data and code.

    Where the words do not say all, for data that are cut or code of others, a digest follows.

    Examples
    --------
    >>> from fairx import Custom, Exponential
    >>> identified(Exponential(4))
    'Exponential(steepness=4.0)'
    >>> one, other = (identified(Custom(f, "mine")) for f in (lambda m: 1 + m, lambda m: 2 + m))
    >>> one.split("#")[0], one == other
    ('Custom(function=mine) ', False)
    """
    text = short(value)
    if CUT not in text and _is_told(value):
        return text
    key = Key(contents=True)
    key.add(value)
    return f"{text} #{key.text()}"


def _is_told(value: Any) -> bool:
    """Tell whether the words of a value say all of it: numbers and texts in records of ours."""
    if isinstance(value, tuple):
        ours = not hasattr(value, "_fields") or is_our_class(type(value))
        return ours and all(map(_is_told, value))
    return isinstance(value, (int, float, str, type(None), np.generic, np.ndarray))
