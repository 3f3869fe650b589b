"""A copy of what others wrote, for one run: state that an object keeps in itself is the run's own."""

from __future__ import annotations

import copy
from typing import Any


def own_copy(value: Any) -> Any:
    """Return a deep copy of an object, or a record with deep copies of what can change in it.

    Examples
    --------
    >>> class Counter:
    ...     count = 0
    >>> counter = Counter()
    >>> own_copy(counter).count, own_copy(counter) is counter
    (0, False)
    """
    if isinstance(value, tuple):
        parts = map(own_copy, value)
        return type(value)._make(parts) if hasattr(value, "_make") else tuple(parts)
    return value if isinstance(value, type) or hasattr(value, "__code__") else _copied(value)


def _copied(value: Any) -> Any:
    return value if hasattr(value, "py_func") else copy.deepcopy(value)  # or a compiled function
