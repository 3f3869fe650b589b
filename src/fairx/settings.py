"""Records as plain mappings, and back: for JSON, TOML and whatever stores settings."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from fairx import merit, policies, rules

KINDS: dict[str, Any] = {
    name: getattr(module, name)
    for module in (merit, policies)
    for name in module.__all__
    if hasattr(getattr(module, name), "_fields")
}


def describe(value: Any) -> Any:
    """Return a record as a mapping of plain values, with its kind.

    Examples
    --------
    >>> from fairx import Exponential, FairXEG
    >>> describe(FairXEG(Exponential(4), epsilon=0.1))
    {'kind': 'FairXEG', 'merit': {'kind': 'Exponential', 'steepness': 4.0}, 'epsilon': 0.1}
    """
    if hasattr(value, "_fields"):
        fields = {name: describe(part) for name, part in value._asdict().items()}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, (tuple, list)):
        return [describe(part) for part in value]
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    raise ValueError(
        f"settings must be numbers, texts and records, not {value!r}: it cannot be written down"
    )


def build(value: Any, kinds: Mapping[str, Any] = KINDS) -> Any:
    """Return the record that a mapping describes.

    Examples
    --------
    >>> build({"kind": "FairXUBC", "width": 0.1})
    Traceback (most recent call last):
    ValueError: unknown kind 'FairXUBC': did you mean 'FairXUCB'?
    """
    if isinstance(value, Mapping):
        fields = {name: build(part, kinds) for name, part in value.items() if name != "kind"}
        return _kind(value, kinds)(**fields)
    return tuple(build(part, kinds) for part in value) if isinstance(value, list) else value


def _kind(value: Mapping[str, Any], kinds: Mapping[str, Any]) -> Any:
    if "kind" not in value:
        raise ValueError(f"a record needs a kind, but one has only {', '.join(value)}")
    name = str(value["kind"])
    if name not in kinds:
        choices = f"choose from {', '.join(sorted(kinds))}"
        raise ValueError(f"unknown kind {name!r}{rules.nearest(name, kinds, choices)}")
    kind = kinds[name]
    fields = inspect.signature(kind).parameters
    for field in value:
        if field != "kind" and field not in fields:
            names = f"choose from {', '.join(fields)}" if fields else "it has none"
            hint = rules.nearest(field, fields, names)
            raise ValueError(f"{name} has no setting {field!r}{hint}")
    missing = [f for f in fields if f not in value and fields[f].default is inspect.Parameter.empty]
    if missing:
        raise ValueError(f"{name} needs a value for {', '.join(missing)}")
    return kind
