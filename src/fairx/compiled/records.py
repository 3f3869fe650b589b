"""Records: named tuples that check themselves."""

from __future__ import annotations

import functools
import inspect
from typing import Any, TypeVar, get_type_hints

import numpy as np

from fairx.texts import record_table, short

R = TypeVar("R")


def record(cls: type[R]) -> type[R]:
    """Make a named tuple cast whole numbers given for float fields, check itself, and print short.

    The cast is not cosmetic: compiled `2**-2` of whole numbers is not 0.25. A record that has a
    method `checked` becomes what that returns, when it is made and when it is replaced.
    """
    plain = cls.__new__

    def checked(cls: Any, /, *arguments: Any, **named: Any) -> Any:
        new = cls._make(as_declared(plain(cls, *arguments, **named)))
        return new.checked() if hasattr(cls, "checked") else new

    checked.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    cls.__new__ = checked  # type: ignore[method-assign, assignment]
    cls.__repr__ = lambda self: short(self)  # type: ignore[method-assign]
    cls._repr_html_ = record_table  # type: ignore[attr-defined]
    cls._replace = lambda self, /, **fields: cls(**(self._asdict() | fields))  # type: ignore[attr-defined]
    cls.__replace__ = cls._replace  # type: ignore[attr-defined] # for copy.replace of Python 3.13
    return cls


def changed(record: R, **fields: Any) -> R:
    """Return a record with other values in some fields, unchecked: for `checked` itself."""
    values: Any = record
    new: R = values._make((values._asdict() | fields).values())
    return new


def as_declared(record: Any) -> list[Any]:
    """Return the values of a record, with whole numbers as floats where floats are declared."""
    kind: Any = type(record)
    fields = zip(record._fields, record, strict=True)
    return [
        _as_float(value) if _hints(kind).get(name) is float else value for name, value in fields
    ]


def _as_float(value: Any) -> Any:
    whole = isinstance(value, (int, np.number)) and not isinstance(value, bool)
    return float(value) if whole else value


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    try:
        return get_type_hints(cls)
    except NameError:  # a record of others, annotated with what is not there at run time
        return {}
