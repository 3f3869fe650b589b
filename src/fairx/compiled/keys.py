"""The key of code: what a record of others would be compiled to, told by its source and all that it reads.

Numba tells types apart by their names, so two classes of one name share their machine code though
their methods differ: a cell of a notebook that is edited and run again would play the old policy. A
key is a digest of the methods, the functions they call, their defaults, closures and the globals
they read; a record is compiled under a name that has its key in it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

OURS, PACKAGE = "fairx.", str(Path(__file__).parents[1])
VERSIONED = {"numpy", "numba", "llvmlite", "scipy"}
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)
PARTS_OF_TUPLES = {"_make", "_replace", "_asdict", "_fields", "_field_defaults"}


class Key:
    """A digest in the making. `lasting` tells whether another process would find the same."""

    def __init__(self) -> None:
        self.digest, self.lasting = hashlib.sha256(), True
        self._seen: dict[int, Any] = {}  # kept alive, so that no number is used twice

    def text(self) -> str:
        """Return it in a form that can be part of a name."""
        return self.digest.hexdigest()[:16]

    def add(self, value: Any) -> None:
        """Take in a value that code reads."""
        if isinstance(value, PLAIN):
            self._say(type(value).__name__, repr(value))
        elif id(value) in self._seen:
            self._say("again", str(list(self._seen).index(id(value))))
        else:
            self._seen[id(value)] = value
            self._add_object(value)

    def _say(self, *words: str) -> None:
        for word in words:
            self.digest.update(f"{len(word)}:{word}".encode())

    def _add_object(self, value: Any) -> None:
        function = getattr(value, "py_func", value)  # of a function compiled by Numba
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        if isinstance(value, ModuleType):
            self._say("module", value.__name__, str(getattr(value, "__version__", "")))
        elif is_our_code(function):
            self._say("ours", function.__module__, function.__qualname__)
        elif isinstance(function, FunctionType):
            self._add_function(function)
        elif isinstance(value, type):
            self.add_class(value)
        elif isinstance(value, np.ndarray):
            self._say("array", str(value.dtype), str(value.shape), value.tobytes().hex())
        else:
            self._add_parts(value)

    def _add_parts(self, value: Any) -> None:
        """Take in a collection, or something that only its identity tells apart."""
        if isinstance(value, (tuple, list)):
            self._say(type(value).__name__, str(len(value)))
            if hasattr(value, "_fields"):
                self.add(type(value))
            parts: Any = value
        elif isinstance(value, (set, frozenset)):
            self._say("set", str(len(value)))
            parts = sorted(value, key=repr)
        elif isinstance(value, dict):
            self._say("mapping", str(len(value)))
            parts = [part for pair in sorted(value.items(), key=repr) for part in pair]
        elif isinstance(value, property):
            parts = (value.fget,)
        else:
            self._say(type(value).__module__, type(value).__qualname__, str(id(value)))
            self.lasting, parts = False, ()
        for part in parts:
            self.add(part)

    def add_class(self, kind: type) -> None:
        """Take in the fields and methods of a class, inherited ones too."""
        self._say("class", kind.__name__, *getattr(kind, "_fields", ()))
        if _installed(kind.__module__):
            self._say(kind.__module__, kind.__qualname__)
            return
        for base in kind.__mro__[:-1]:
            if base is not tuple and not base.__module__.startswith("typing"):
                for name, value in sorted(vars(base).items()):
                    if not name.startswith("__") and name not in PARTS_OF_TUPLES:
                        self._say(name)
                        self.add(value) if _is_code(value) else None

    def _add_function(self, function: FunctionType) -> None:
        """Take in the code of a function, its defaults, its closure and the globals that it reads."""
        if _installed(function.__module__ or ""):
            self._say("installed", str(function.__module__), function.__qualname__)
            return
        self._add_code(function.__code__)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            self.add(_content(cell))
        names = sorted(set(_names(function.__code__)))
        for name in names:
            if name in function.__globals__:
                self._say("global", name)
                value = function.__globals__[name]
                self.add(value)
                if isinstance(value, ModuleType) and not _installed(value.__name__):
                    self._add_attributes(value, names)

    def _add_attributes(self, module: ModuleType, names: list[str]) -> None:
        """Take in what a function may read of a module that is somebody's own."""
        for name in names:
            if hasattr(module, name):
                self._say("attribute", name)
                self.add(getattr(module, name))

    def _add_code(self, code: CodeType) -> None:
        self._say("code", code.co_code.hex(), *code.co_names, "|", *code.co_varnames)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._add_code(constant)
            else:
                self.add(constant)


def key_of(value: Any) -> Key:
    """Return the key of a record, a class or a function.

    Examples
    --------
    >>> one, same, other = (lambda x: x + 1), (lambda x: x + 1), (lambda x: x + 2)
    >>> key_of(one).text() == key_of(same).text(), key_of(one).text() == key_of(other).text()
    (True, False)
    """
    key = Key()
    key.add(value)
    return key


def is_our_code(value: Any) -> bool:
    """Tell whether a function or class is in our sources, whose digest covers it."""
    if not str(getattr(value, "__module__", "")).startswith(OURS):
        return False
    if isinstance(value, FunctionType):
        return value.__code__.co_filename.startswith(PACKAGE)
    return isinstance(value, type)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code and the codes in it read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None


def _is_code(value: Any) -> bool:
    """Tell whether an attribute of a class is one that compiled code may use."""
    return callable(value) or isinstance(value, (property, staticmethod, classmethod, *PLAIN))


def _installed(name: str) -> bool:
    """Tell whether a module is Python's or one of those whose version tells all: nobody edits it."""
    top = name.partition(".")[0]
    return top in sys.stdlib_module_names or top in VERSIONED
