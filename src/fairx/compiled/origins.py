"""What code is: whose it is, which functions a value wraps, and which names it reads."""

from __future__ import annotations

import dis
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

OURS, PACKAGE = "fairx.", str(Path(__file__).parents[1])
VERSIONED = {"numpy", "numba", "llvmlite", "scipy"}
GLOBAL_READS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


def python_function(value: Any) -> Any:
    """Return the function that was given to Numba, or that a method wraps, or the value itself."""
    if isinstance(value, (staticmethod, classmethod)):
        return value.__func__
    return value.py_func if is_dispatcher(value) else value


def is_dispatcher(value: Any) -> bool:
    """Tell whether a value is a function compiled by Numba, without asking the value."""
    kind = type(value)
    return str(kind.__module__).startswith("numba.") and hasattr(kind, "get_call_template")


def is_our_code(value: Any) -> bool:
    """Tell whether a function or class is in our sources, whose digest covers it."""
    if isinstance(value, FunctionType):
        module, file = str(value.__module__), value.__code__.co_filename
        return module.startswith(OURS) and file.startswith(PACKAGE)
    return isinstance(value, type) and str(value.__module__).startswith(OURS)


def patches(kind: Any) -> list[tuple[str, Any]]:
    """Return the public methods of a class of ours that somebody else wrote."""
    found = sorted(vars(kind).items()) if isinstance(kind, type) else []
    return [
        (name, method)
        for name, method in found
        if isinstance(method, FunctionType) and not name.startswith("_") and not is_our_code(method)
    ]


def is_special_method(name: str, value: Any) -> bool:
    """Tell whether this is a method such as `__call__`, and not what Python makes of annotations."""
    return isinstance(value, FunctionType) and not name.startswith("__annot")


_globals: dict[int, tuple[CodeType, frozenset[str]]] = {}  # by address: not every code has a hash


def globals_in(code: CodeType) -> frozenset[str]:
    """Return the global names that a code and the codes in it read: not those of attributes."""
    if id(code) not in _globals:
        own = {one.argval for one in dis.get_instructions(code) if one.opname in GLOBAL_READS}
        inner = (globals_in(part) for part in code.co_consts if isinstance(part, CodeType))
        _globals[id(code)] = code, frozenset(own).union(*inner)  # kept alive with its address
    return _globals[id(code)][1]


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names that a code and the codes in it read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def content(cell: Any) -> Any:
    """Return what a closure holds; nothing where that is not set yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def is_installed(name: str) -> bool:
    """Tell whether a module is Python's or one of those whose version tells all: nobody edits it."""
    top = name.partition(".")[0]
    if top in VERSIONED:
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    if top not in sys.stdlib_module_names or name == "__main__":
        return False
    return file is None or file.startswith(sysconfig.get_path("stdlib"))
