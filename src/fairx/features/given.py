"""Features and what is known by their names, as settings, requests and files have them: plain mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairx import rules
from fairx.texts import short
from fairx.types import Matrix

from .encoding import Features
from .kinds import Category, Number
from .tables import records_of

KINDS: dict[str, Any] = {"Category": Category, "Number": Number}


def features_given(found: Any) -> Features | None:
    """Return features that are given as such, or as a mapping; nothing for nothing.

    Examples
    --------
    >>> given = {"visit": {"hour": {"kind": "Number", "mean": 12}}, "arms": {}}
    >>> features_given(given).names
    ('intercept', 'hour')
    >>> features_given({"visits": {}})
    Traceback (most recent call last):
    InvalidValue: features must have visit, arms, crosses, hashed, intercept, not 'visits': did you mean 'visit'?
    """
    if found is None or isinstance(found, Features):
        return found
    if not isinstance(found, Mapping):
        raise rules.InvalidValue("features", f"be a table, not {short(found)}")
    fields = [*Features._fields, "kind"]
    for name in found:
        if name not in fields:
            hint = rules.nearest(str(name), fields)
            rule = f"have {', '.join(Features._fields)}, not {name!r}{hint}"
            raise rules.InvalidValue("features", rule)
    parts = {name: value for name, value in found.items() if name != "kind"}
    for part in ("visit", "arms"):
        parts[part] = [
            (name, _kind(name, kind)) for name, kind in _pairs(part, parts.get(part, {}))
        ]
    parts["crosses"] = tuple(map(tuple, parts.get("crosses", ())))
    return Features(**parts)


def _pairs(part: str, kinds: Any) -> list[Any]:
    """Return names with kinds, of a table or of pairs, which keep their order wherever they are kept."""
    found = list(kinds.items() if isinstance(kinds, Mapping) else kinds)
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in found):
        raise rules.InvalidValue(f"features.{part}", f"be kinds by name, not {short(kinds)}")
    return found


def _kind(name: Any, found: Any) -> Any:
    """Return the kind of a feature, of a mapping or as it is."""
    if not isinstance(found, Mapping):
        return found
    what = f"the kind of feature {name!r}"
    kind = KINDS.get(str(found.get("kind")))
    if kind is None:
        raise rules.InvalidValue(what, f"be Category or Number, not {short(found.get('kind'))}")
    settings = {key: value for key, value in found.items() if key != "kind"}
    for key in settings:
        if key not in kind._fields:
            hint = rules.nearest(str(key), kind._fields)
            raise rules.InvalidValue(what, f"have {', '.join(kind._fields)}, not {key!r}{hint}")
    return kind(**settings)


def dimension_given(dimension: int, features: Features | None) -> int:
    """Return the dimension of contexts, which is that of the features, where there are any."""
    if features is None:
        return rules.count("dimension", dimension, low=0)
    if dimension not in (0, features.dimension):
        rule = f"be left out, or that of the features, {features.dimension}, not {dimension!r}"
        raise rules.InvalidValue("dimension", rule)
    return features.dimension


def given_rows(features: Features, given: Any, names: Sequence[Any]) -> Matrix:
    """Return the contexts of the arms of these names, of {"visit": ..., "arms": ...}; either may be left out.

    `arms` has their features by name, or in their order.

    Examples
    --------
    >>> features = Features(arms={"arm": Category(["a", "b"])}, intercept=False)
    >>> given_rows(features, {}, ["b", "a"])
    array([[0., 1.],
           [1., 0.]])
    """
    if not isinstance(given, Mapping) or set(given) - {"visit", "arms"}:
        rule = f"be {{'visit': ..., 'arms': ...}}, for features are declared, not {short(given)}"
        raise rules.InvalidValue("contexts", rule)
    arms = given.get("arms", [{}] * len(names))
    if isinstance(arms, Mapping) and set(arms) >= set(names):
        arms = [arms[name] for name in names]
    records, visit = records_of(arms), given.get("visit", {})
    if not isinstance(visit, Mapping):
        rule = f"have the features of the visit by name, not {short(visit)}"
        raise rules.InvalidValue("contexts", rule)
    if len(records) != len(names):
        rule = f"have the features of each of {len(names)} arms on offer, not of {len(records)}"
        raise rules.InvalidValue("contexts", rule)
    if "arm" in dict(features.arms):
        records = [{"arm": name} | dict(each) for name, each in zip(names, records, strict=True)]
    return features.rows(visit, records)
