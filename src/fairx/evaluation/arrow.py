"""Columns of Arrow as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.types import Indices, Vector


def decoded(column: Any) -> Any:
    """Return a column of values, not of their numbers in a dictionary."""
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def elements(column: Any) -> tuple[Any, Indices]:
    """Return all elements of a column of lists, and how many each row has."""
    import pyarrow.compute as pc

    return pc.list_flatten(column), np.asarray(pc.fill_null(pc.list_value_length(column), 0))


def arm_numbers(column: Any, names: Sequence[Any]) -> Indices:
    """Return the number of each arm, its index in `names`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(column, value_set=pa.array(names, column.type))
    if found.null_count:
        wrong = column[pc.index(pc.is_null(found), True).as_py()]
        raise ValueError(f"arm must be one of names, not {wrong}")
    return np.asarray(found).astype(np.int64)


def floats(column: Any, name: str) -> Vector:
    """Return a column of numbers."""
    found = column.to_numpy(zero_copy_only=False)
    try:
        return np.asarray(found, np.float64)
    except (TypeError, ValueError):
        rule = f"must be a column of numbers, not of {column.type}"
        raise ValueError(f"{name} {rule}: convert it where the log is made") from None


def rewards(column: Any, missing: float | None) -> Vector:
    """Return rewards, those missing as `missing`."""
    found = floats(column, "reward")
    return found if missing is None else np.where(np.isnan(found), missing, found)


def filled(values: npt.NDArray[Any], lengths: Indices, fill: float) -> npt.NDArray[Any]:
    """Return lists as rows, the shorter ones filled up."""
    there = np.arange(lengths.max(initial=0)) < lengths[:, None]
    out = np.full(there.shape, fill, values.dtype)
    out[there] = values
    return out


def even(elements: Any, lengths: Indices) -> Vector:
    """Return lists as rows, all of one length."""
    if lengths.min() != lengths.max():
        raise ValueError(f"context must have one length, not {lengths.min()} to {lengths.max()}")
    return floats(elements, "context").reshape(len(lengths), -1)


def codes(units: list[Any]) -> Indices:
    """Return units as numbers from 0."""
    import pyarrow as pa

    return np.asarray(pa.concat_arrays(units).dictionary_encode().indices).astype(np.int64)
