"""The key of code: what a record of others would be compiled to, told by its source and all that it reads.

Numba tells types apart by their names, so two classes of one name share their machine code though
their methods differ: a cell of a notebook that is edited and run again would play the old policy. A
key is a digest of the methods, the functions they call, their defaults, closures and the globals
they read; a record is compiled under a name that has its key in it.
"""

from __future__ import annotations

import enum
import hashlib
import uuid
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .origins import (
    OURS,
    content,
    globals_in,
    is_dispatcher,
    is_installed,
    is_our_code,
    is_special_method,
    names_in,
    patches,
    python_function,
)

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype)
PARTS_OF_TUPLES = {"_make", "_replace", "_asdict", "_fields", "_field_defaults"}
DEEPEST = 200  # of what is nested: code that reads more is known by its identity


class Key:
    """A digest in the making. `lasting` tells whether another process would find the same.

    With `contents`, it goes by what is in an object of any kind, and not by which object it is: for
    provenance. What cannot be looked into is then like nothing else, not even like itself.
    """

    def __init__(self, *, contents: bool = False) -> None:
        self.digest, self.lasting = hashlib.blake2b(digest_size=8), True
        self.contents = contents
        self._seen: dict[int, tuple[int, Any]] = {}  # kept alive, so that no number is used twice
        self._depth = 0

    def text(self) -> str:
        """Return it in a form that can be part of a name."""
        return self.digest.hexdigest()

    def add(self, value: Any, names: frozenset[str] = frozenset()) -> None:
        """Take in a value that code reads; `names` are those that the code has for attributes."""
        if isinstance(value, PLAIN) and not isinstance(value, enum.Enum):
            self._say(type(value).__name__, repr(value))
        elif isinstance(value, ModuleType):
            self._add_module(value, names)
        elif id(value) in self._seen:
            self._say("again", str(self._seen[id(value)][0]))
        else:
            self._seen[id(value)] = len(self._seen), value
            self._depth += 1
            self._add_object(value) if self._depth < DEEPEST else self._add_identity(value)
            self._depth -= 1

    def _say(self, *words: str) -> None:
        for word in words:
            self.digest.update(f"{len(word)}:{word}".encode())

    def _add_object(self, value: Any) -> None:
        function = python_function(value)
        if is_dispatcher(value):
            self._say(
                "options", repr(sorted(getattr(value, "targetoptions", {}).items(), key=repr))
            )
        if is_our_code(function):
            self._say("ours", function.__module__, function.__qualname__)
            for name, patch in patches(function):
                self._say(name)
                self.add(patch)
        elif isinstance(function, FunctionType):
            self._add_function(function)
        elif isinstance(value, type):
            self.add_class(value)
        elif isinstance(value, np.ndarray):
            self._add_array(value)
        elif isinstance(value, enum.Enum):
            self._say("member", type(value).__qualname__, value.name)
            self.add(value.value)
        else:
            self._add_parts(value)

    def _add_array(self, value: Any) -> None:
        self._say("array", type(value).__name__, str(value.dtype), str(value.shape))
        if value.dtype.hasobject:
            self.add(value.ravel().tolist())
        else:
            self.digest.update(np.ascontiguousarray(value).view(np.uint8).data)
        if isinstance(value, np.ma.MaskedArray):
            self.add(np.ma.getmaskarray(value))

    def _add_parts(self, value: Any) -> None:
        """Take in a collection, or something that only its identity tells apart."""
        if isinstance(value, (tuple, list)):
            self._say(type(value).__name__, str(len(value)))
            parts = [type(value), *value] if hasattr(type(value), "_fields") else value
        elif isinstance(value, (set, frozenset)):
            self._say("set", str(len(value)))
            parts = sorted(value, key=repr)
        elif isinstance(value, dict):
            self._say("mapping", str(len(value)))
            parts = [part for pair in value.items() for part in pair]  # in their order
        elif isinstance(value, property):
            parts = (value.fget,)
        elif isinstance(value, slice):  # a constant of code from Python 3.14 on
            self._say("slice")
            parts = (value.start, value.stop, value.step)
        else:
            self._add_identity(value)
            return
        for part in parts:
            self.add(part)

    def _add_identity(self, value: Any) -> None:
        """Take in something that is known to this process alone; or its contents, where they count."""
        kind = type(value)
        self._say(str(kind.__module__), kind.__qualname__)
        if not self.contents:
            self._say(str(id(value)))
            self.lasting = False
            return
        try:
            parts = value.__reduce_ex__(4)  # what a copy would be made of
        except Exception:  # noqa: BLE001 - anybody's object may fail in any way
            self._say(uuid.uuid4().hex)
        else:
            self.add(
                [kind, *(list(part) if isinstance(part, Iterator) else part for part in parts)]
            )

    def add_class(self, kind: type) -> None:
        """Take in the fields and methods of a class, inherited ones too."""
        self._say("class", kind.__name__, *getattr(kind, "_fields", ()))
        if is_installed(str(kind.__module__)):
            self._say(str(kind.__module__), kind.__qualname__)
            return
        passed = PARTS_OF_TUPLES.union(getattr(kind, "_fields", ()))
        for base in kind.__mro__[:-1]:
            if base is not tuple and not is_installed(str(base.__module__)):
                for name, value in sorted(vars(base).items()):
                    special = name.startswith("__") and not is_special_method(name, value)
                    if not special and name not in passed:
                        self._say(name)
                        self.add(value)

    def _add_function(self, function: FunctionType) -> None:
        """Take in the code of a function, its defaults, its closure and the globals that it reads."""
        if is_installed(function.__module__ or ""):
            self._say("installed", str(function.__module__), function.__qualname__)
            return
        self._add_code(function.__code__)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        names = frozenset(names_in(function.__code__))
        for cell in function.__closure__ or ():
            self.add(content(cell), names)
        for name in sorted(globals_in(function.__code__) & function.__globals__.keys()):
            self._say("global", name)
            self.add(function.__globals__[name], names)

    def _add_module(self, module: ModuleType, names: frozenset[str]) -> None:
        """Take in a module by its version, or what code may read of one that is somebody's own."""
        found = vars(module)
        self._say("module", module.__name__, str(found.get("__version__", "")))
        if is_installed(module.__name__) or module.__name__.startswith(OURS):
            return
        for name in sorted(names & found.keys()):
            self._say("attribute", name)
            self.add(found[name], names - {name})

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
