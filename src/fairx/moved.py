"""What version 0.1 called otherwise: old imports and old keywords keep working, with a warning."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")
MOVED = {
    "fairx.logs.yahoo": "fairx.replay.yahoo",
    "fairx.metrics": "fairx.report.metrics",
    "fairx.sequences": "fairx.auditing.always_valid",
    "fairx.uniform_log": "fairx.replay.uniform_log",
}


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a moved module, with a warning that says where it is now."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load an old name; others are not ours to find."""
        return importlib.machinery.ModuleSpec(fullname, self) if fullname in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Let the old module answer with what the new one has."""
        new = MOVED[module.__name__]
        room, _, name = new.rpartition(".")
        words = f"{module.__name__} is now {new}: from {room} import {name}"
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        module.__getattr__ = functools.partial(getattr, importlib.import_module(new))  # type: ignore[method-assign]


def names_from(old: str, new: str, names: Sequence[str]) -> Callable[[str], Any]:
    """Return what answers a module for names that moved on, where another took its own name."""

    def answer(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        words = f"{old}.{name} is now {new}.{name}: from {new} import {name}"
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(new), name)

    return answer


def renamed(old: str, given: T | None, new: str, value: T, stacklevel: int = 3) -> T:
    """Return what was given under the old name of a keyword, if anything was, or the new one's."""
    if given is None:
        return value
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=stacklevel)
    return given


def keep_old_names() -> None:
    """Find moved modules from now on; those that exist are found before."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.append(Finder())
