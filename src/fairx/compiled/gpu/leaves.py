"""What the records of many runs are made of: numbers and arrays, which all share or each has its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..origins import is_dispatcher

V = TypeVar("V")


class Leaf(NamedTuple):
    """A number, an array or a function at one place in the records, over all runs."""

    path: tuple[str, ...]
    first: Any  # the value in the first run
    values: Sequence[Any]  # the values in all runs, or one that they share
    runs: int = 1  # that begin with copies of the first value

    @property
    def is_own(self) -> bool:
        """Tell whether each run has a value of its own."""
        return len(self.values) > 1 or self.runs > 1

    @property
    def is_array(self) -> bool:
        """Tell whether it is an array."""
        return isinstance(self.first, np.ndarray)

    @property
    def is_code(self) -> bool:
        """Tell whether it is nothing that can be sent: a function, or nothing at all."""
        return (
            self.first is None or isinstance(self.first, FunctionType) or is_dispatcher(self.first)
        )

    @property
    def shared(self) -> Any:
        """The value that all runs share: of an array, row after row, for kernels take it to lie so."""
        return np.ascontiguousarray(self.first) if self.is_array else self.first

    def stacked(self, *, by_run: bool) -> Any:
        """Return the values as one array: those of a run side by side, or those of all runs."""
        found = np.stack([np.asarray(value) for value in self.values])
        if self.runs > 1:
            found = np.repeat(found, self.runs, axis=0)
        return found if by_run else np.ascontiguousarray(np.moveaxis(found, 0, -1))


def leaves(records: Sequence[Any], path: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Walk the records of all runs side by side; those of each run must be of the same kinds."""
    first = records[0]
    if isinstance(first, tuple):
        names = getattr(first, "_fields", [str(i) for i in range(len(first))])
        for name, *parts in zip(names, *records, strict=True):
            yield from leaves(parts, (*path, name))
    else:
        one = Leaf(path, first, records[:1])
        # A number is each run's own, though it be the same: runs of one kind have one kernel.
        is_number = not one.is_array and not one.is_code
        yield one._replace(values=records) if is_number or _differ(first, records) else one


def repeated(record: Any, runs: int, path: tuple[str, ...]) -> Iterator[Leaf]:
    """Walk a record of which each run has a copy; zeros for all but one of its marks, say."""
    for leaf in leaves([record], path):
        yield leaf._replace(runs=runs)


def alike(values: Sequence[V], kind: Callable[[V], Any]) -> list[list[V]]:
    """Return the values in groups of one kind, each in its order."""
    groups: dict[Any, list[V]] = {}
    for value in values:
        groups.setdefault(kind(value), []).append(value)
    return list(groups.values())


def kind_of(value: Any) -> Any:
    """Return what values must have in common for one kernel: classes, functions, and shapes of arrays."""
    if isinstance(value, tuple):
        return (type(value), *map(kind_of, value))
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape
    return value if value is None or callable(value) else type(value)


def _differ(first: Any, values: Sequence[Any]) -> bool:
    if isinstance(first, np.ndarray):
        return any(not _is_same_memory(first, value) for value in values)
    return any(value is not first and value != first for value in values)


def _is_same_memory(one: Any, other: Any) -> bool:
    return one is other or (
        one.shape == other.shape
        and one.strides == other.strides
        and one.ctypes.data == other.ctypes.data
    )
