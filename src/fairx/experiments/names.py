"""Names that users write: the nearest valid one is told when there is no such thing."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from fairx import rules, settings
from fairx.merit import Custom


def choice(what: str, name: str, names: Collection[str]) -> str:
    """Return `name` if it is one of `names`.

    Examples
    --------
    >>> choice("setting", "linaer", ["mab", "linear"])
    Traceback (most recent call last):
    ValueError: setting must be one of mab, linear, not 'linaer': did you mean 'linear'?
    """
    if name in names:
        return name
    hint = rules.nearest(str(name), names)
    raise ValueError(f"{what} must be one of {', '.join(names)}, not {name!r}{hint}")


def known(where: str, found: Iterable[str], names: Collection[str]) -> None:
    """Refuse keys that mean nothing here."""
    for key in found:
        if key not in names:
            hint = rules.nearest(key, names, f"choose from {', '.join(names)}")
            raise ValueError(f"{where} has no key {key!r}{hint}")


def table(where: str, value: Any) -> Mapping[str, Any]:
    """Return `value` if it is a table."""
    if isinstance(value, Mapping):
        return value
    raise ValueError(f"{where} must be a table, not {value!r}")


def tables(where: str, value: Any) -> list[Mapping[str, Any]]:
    """Return `value` if it is a list of at least one table."""
    if not isinstance(value, list) or not value:
        raise ValueError(f"{where} must be a list of tables, not {value!r}")
    return [table(f"each of the {where}", one) for one in value]


def merged(base: Mapping[str, Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return `content` on top of `base`: tables are merged, all else is replaced.

    Examples
    --------
    >>> merged({"runs": 3, "grid": {"width": [1]}}, {"grid": {"beta": [2]}})
    {'runs': 3, 'grid': {'width': [1], 'beta': [2]}}
    """
    both = {
        key: merged(base[key], value) if isinstance(value, Mapping) and key in base else value
        for key, value in content.items()
    }
    return {**base, **both}


def text(where: str, value: Any) -> str:
    """Return `value` if it is a text."""
    if isinstance(value, str) and value:
        return value
    raise ValueError(f"{where} must be a text, not {value!r}")


def texts(where: str, value: Any) -> list[str]:
    """Return `value` if it is a list of texts."""
    if isinstance(value, list):
        return [text(f"each of {where}", one) for one in value]
    raise ValueError(f"{where} must be a list of texts, not {value!r}")


def imported(kind: str) -> Any:
    """Return what makes a policy or merit: one of ours by its name, or `module:Name`.

    A plain function is a merit, as for `Custom`.

    Examples
    --------
    >>> imported("fairx.policies:FairXTS").__name__
    'FairXTS'
    """
    module, _, name = kind.partition(":")
    if not name:
        if kind not in settings.KINDS:
            hint = rules.nearest(kind, settings.KINDS, "write your own as module:Name")
            raise ValueError(f"unknown kind {kind!r}{hint}")
        return settings.KINDS[kind]
    if "" not in sys.path:  # a module beside the experiment, as for `python -m`
        sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"kind {kind!r} cannot be imported ({error}): run from the folder of {module}.py, "
            "or install it"
        ) from error
    return (lambda: Custom(found)) if inspect.isfunction(found) else found
