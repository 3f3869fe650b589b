"""A copy of what others wrote, for one run: state that an object keeps in itself is the run's own."""

from __future__ import annotations

import copy
import warnings
from types import FunctionType, ModuleType
from typing import Any

from .origins import is_dispatcher


def own_copy(value: Any) -> Any:
    """Return a deep copy of an object, or a record with deep copies of what can change in it.

    What cannot be copied, such as a lock, is shared by all runs, with a warning.

    Examples
    --------
    >>> class Counter:
    ...     count = 0
    >>> counter = Counter()
    >>> own_copy(counter).count, own_copy(counter) is counter
    (0, False)
    """
    if isinstance(value, tuple):
        parts: Any = map(own_copy, value)
        return type(value)._make(parts) if hasattr(value, "_make") else tuple(parts)
    if isinstance(value, (type, FunctionType, ModuleType)) or is_dispatcher(value):
        return value
    try:
        return copy.deepcopy(value)
    except Exception as error:  # noqa: BLE001 - anybody's object may fail in any way
        message = f"{value!r} cannot be copied ({error}): all runs share what it keeps in itself"
        warnings.warn(message, UserWarning, stacklevel=2)
        return value
