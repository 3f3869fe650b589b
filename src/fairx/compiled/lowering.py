"""Records as compiled code wants them: under names that tell their code, with functions compiled."""

from __future__ import annotations

import functools
import operator
import re
from collections import namedtuple
from collections.abc import Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

from .keys import Key, key_of
from .origins import (
    content,
    is_dispatcher,
    is_installed,
    is_our_code,
    names_in,
    patches,
    python_function,
)
from .records import as_declared
from .teaching import OPTIONS, load

_twins: dict[str, Any] = {}
_functions: dict[str, Any] = {}
_underway: set[str] = set()


def lowered(value: Any) -> Any:
    """Return `value` as compiled code wants it: Python functions in it compiled, floats floats.

    A record of others becomes one of a class with the same fields and methods whose name has the key
    of its code in it: Numba tells types apart by their names.
    """
    if isinstance(value, FunctionType) or is_dispatcher(value):
        return _compiled(value)
    if not isinstance(value, tuple) or is_ours(value):
        return value
    if not hasattr(value, "_fields"):
        return tuple(map(lowered, value))
    kind: Any = type(value)
    parts = [lowered(part) for part in as_declared(value)]
    if is_our_class(kind):  # texts are for people: none of our code reads one
        return kind._make([None if isinstance(part, str) else part for part in parts])
    return _twin(kind)._make(parts or [True])


def is_ours(value: Any) -> bool:
    """Tell whether the digest of our sources covers all the code in `value`."""
    if callable(value):
        return False
    if not isinstance(value, tuple):
        return True
    return (not hasattr(value, "_fields") or is_our_class(type(value))) and all(map(is_ours, value))


def code_of(value: Any) -> str:
    """Return what tells the code of a record from that of others; nothing for ours."""
    if is_ours(value):
        return ""
    if isinstance(value, tuple):
        own = _class_key(type(value)).text() if hasattr(value, "_fields") else ""
        return own + "".join(map(code_of, value))
    return key_of(value).text()


def is_lasting(value: Any) -> bool:
    """Tell whether another process would find the code of `value` under the same name."""
    if is_ours(value):
        return True
    if not isinstance(value, tuple):
        return False  # Numba has another type for each compiled function
    own = is_our_class(type(value)) or _class_key(type(value)).lasting
    return own and all(map(is_lasting, value))


def is_our_class(kind: Any) -> bool:
    """Tell whether a class is ours, with none of its methods replaced."""
    return kind is tuple or (is_our_code(kind) and not patches(kind))


def is_overridden(record: Any, doors: Mapping[str, str]) -> bool:
    """Tell whether a public method of a record is not that of its inner form: nearer, or patched."""
    return any(
        _depth(record, door) < _depth(record, inner)
        or is_our_code(getattr(type(record), inner)) > is_our_code(getattr(type(record), door))
        for door, inner in doors.items()
        if hasattr(type(record), door)
    )


def _depth(record: Any, name: str) -> int:
    """Return how far up its bases a record has a method."""
    return next(i for i, base in enumerate(type(record).__mro__) if name in vars(base))


def _class_key(kind: Any) -> Key:
    key = Key()
    key.add_class(kind)
    return key


def _twin(kind: Any) -> Any:
    """Return the class with the fields and methods of `kind`; Numba wants it to have a field."""
    name = f"{kind.__name__}_{_class_key(kind).text()}"
    if name not in _twins:
        twin: Any = namedtuple(name, kind._fields or ["empty"])  # type: ignore[misc]
        for attribute in dir(kind):
            method = getattr(kind, attribute)
            if isinstance(method, FunctionType) and not attribute.startswith("_"):
                setattr(twin, attribute, _with_fresh_helpers(method))
        _twins.setdefault(name, twin)
    return _twins[name]


@functools.cache  # the same class each time, or pickle would not write it by its name
def _blank(name: str) -> Any:
    return namedtuple(name, ["empty"])


def __getattr__(name: str) -> Any:
    """Return a twin by its name, as pickle asks for those in the disk cache; or a blank one.

    A blank stands for code that the cache knows and this process does not play.
    """
    if not re.search(r"_[0-9a-f]{16}$", name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _twins.get(name) or _blank(name)


def _compiled(function: Any) -> Any:
    """Return a function that compiled code can call, the same one for the same code.

    One that the user compiled is compiled anew when what it reads has changed: it would go on with
    what it read first.
    """
    key, options = key_of(function).text(), getattr(function, "targetoptions", OPTIONS)
    if key not in _functions:
        chosen = {name: on for name, on in options.items() if name not in ("nopython", "cache")}
        _underway.add(key)  # one that calls itself goes on with the one it called
        plain = _with_fresh_helpers(python_function(function))
        _underway.discard(key)
        _functions.setdefault(key, load().njit(**chosen)(plain))
    return _functions[key]


def _with_fresh_helpers(function: FunctionType) -> FunctionType:
    """Return a copy of a function that calls its compiled helpers as they would be compiled now."""
    if is_our_code(function):
        return function
    names = set(names_in(function.__code__))
    read = {name: function.__globals__.get(name) for name in names}
    helpers = {name: _fresh(value, names) for name, value in read.items()}
    changed = {name: value for name, value in helpers.items() if value is not read[name]}
    contents = [content(cell) for cell in function.__closure__ or ()]
    fresh = [_fresh(value, names) for value in contents]
    if not changed and all(map(operator.is_, fresh, contents)):
        return function
    cells = tuple(
        cell if new is old else CellType(new)
        for cell, new, old in zip(function.__closure__ or (), fresh, contents, strict=True)
    )
    scope = function.__globals__ | changed
    new = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells)
    new.__kwdefaults__ = function.__kwdefaults__
    return new


def _fresh(value: Any, names: set[str]) -> Any:
    """Return a compiled helper as it would be compiled now, or a module with such helpers in it."""
    if _is_helper(value):
        return value if key_of(value).text() in _underway else _compiled(value)
    if not isinstance(value, ModuleType) or is_installed(value.__name__):
        return value
    found = vars(value)
    helpers = {
        name: _compiled(found[name]) for name in names & found.keys() if _is_helper(found[name])
    }
    if not helpers:
        return value
    module = ModuleType(value.__name__)
    vars(module).update(found | helpers)
    return module


def _is_helper(value: Any) -> bool:
    return is_dispatcher(value) and not is_our_code(python_function(value))
