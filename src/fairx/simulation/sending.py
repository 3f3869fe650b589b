"""What of a run can be sent to a GPU: numbers, texts, functions, and arrays that have their memory for themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from fairx.compiled.gpu import leaves
from fairx.rules import InvalidValue
from fairx.texts import short

NUMBERS, TEXTS = "biufc", "US"  # as NumPy tells their kinds
REMEDY = "leave out device"


def check_sent(records: Sequence[tuple[Any, ...]]) -> None:
    """Refuse what a kernel cannot be given, in the records of some runs; and arrays that share memory.

    A GPU has a copy of each array: what is written to one would not be read from the other.
    """
    found = [leaf for leaf in leaves(records) if not leaf.is_code]
    for leaf in found:
        if not _is_sent(leaf.first):
            what = "a number of 64 bits, a text, a function (def or lambda) or an array of numbers with an axis"
            shown = short(leaf.first) if np.ndim(leaf.first) else repr(leaf.first)
            raise InvalidValue(_name(leaf), f"be {what} on a GPU, not {shown}: {REMEDY}")
    own = {id(leaf.first): leaf for leaf in found if leaf.is_array and leaf.is_own}
    for one, other in combinations(own.values(), 2):  # those that are the same array are one
        if np.shares_memory(one.first, other.first):
            rule = (
                f"have memory of its own on a GPU, not that of {_name(other)}: copy it, or {REMEDY}"
            )
            raise InvalidValue(_name(one), rule)


def _is_sent(value: Any) -> bool:
    """Tell whether this can be a part of a record: an array of no axes has no place for each run."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and value.dtype.kind in NUMBERS
    return np.ndim(value) == 0 and np.asarray(value).dtype.kind in NUMBERS + TEXTS


def _name(leaf: Any) -> str:
    """Return how a part of the records is called."""
    whole = ("policy", "state", "world", "judge", "measures")[int(leaf.path[0])]
    return ".".join([whole, *leaf.path[1:]])
