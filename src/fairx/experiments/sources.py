"""The modules of a user's that a policy or merit is made of: an edit of any makes another task."""

from __future__ import annotations

import importlib
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType

INSTALLED = tuple(sysconfig.get_path(kind) for kind in ("stdlib", "purelib", "platlib"))


def own_modules(names: Iterable[str]) -> list[ModuleType]:
    """Return the modules of these names, then those of the user's that they import, each once.

    What is installed counts only where it is named: its version is another matter.
    """
    found: dict[str, ModuleType] = {}
    waiting = [importlib.import_module(name) for name in names]
    while waiting:
        module = waiting.pop(0)
        if module.__name__ not in found:
            found[module.__name__] = module
            waiting += [other for other in _imported(module) if _is_own(other)]
    return list(found.values())


def _imported(module: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules that a module names, or has functions and classes from."""
    for value in vars(module).values():
        if isinstance(value, ModuleType):
            yield value
        elif isinstance(value, (type, FunctionType)) and value.__module__ in sys.modules:
            yield sys.modules[value.__module__]


def _is_own(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None) or ""
    ours = module.__name__.partition(".")[0] == "fairx"
    return Path(file).suffix == ".py" and not file.startswith(INSTALLED) and not ours
