"""Tables of few numbers that compiled code reads at any index: on a GPU they lie in shared memory, next to its lanes.

Where lanes share a run, that memory is scarce, and there are none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .teaching import kernel

Item = Callable[[Any], float]

_tables: dict[Item, npt.NDArray[np.float64]] = {}


def tabulated(values: npt.ArrayLike) -> Item:
    """Return a function from an index to the item of a table, for compiled code too.

    Examples
    --------
    >>> square = tabulated([0, 1, 4])
    >>> float(square(2))
    4.0
    """
    table = np.array(values, np.float64)

    def item(index: Any) -> Any:
        return table[index]

    _tables[item] = table
    return kernel(item)


@kernel
def has_tables() -> bool:
    """Tell whether tables are at hand: in kernels of GPUs that play a run by one lane, and are not exact.

    Examples
    --------
    >>> has_tables()
    False
    """
    return False


def places() -> dict[Item, int]:
    """Return where each table begins, if all lie one after the other."""
    ends = np.cumsum([table.size for table in _tables.values()])
    return {item: int(end) - _tables[item].size for item, end in zip(_tables, ends, strict=True)}


def all_items() -> npt.NDArray[np.float64]:
    """Return the items of all tables, one after the other."""
    return np.concatenate([np.empty(0), *_tables.values()])
