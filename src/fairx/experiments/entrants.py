"""The policies of an experiment's file: alone, with a grid to search, or with a sweep to show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fairx import rules

from .names import choice, merged, table, tables, texts
from .notions import NOTIONS
from .specification import Entrant, is_set, with_setting

LARGEST_GRID = 10_000
PART = "the part"  # of the file that is read: its name, which no key of a file can be


def entrants(content: Mapping[str, Any]) -> tuple[Entrant, ...]:
    """Return the policies of a file, each point of a sweep as one of its own."""
    listed = tables("policies", content["policies"])
    if "more_policies" in content:
        listed = listed + tables("more_policies", content["more_policies"])
    here = _playing(listed, content.get(PART))
    changed = _changed(here, table("changes", content.get("changes", {})))
    found = [entrant for one in changed for entrant in _swept(one)]
    labels = [entrant.label for entrant in found]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"label {label!r} must belong to one policy only: write label = ...")
    return tuple(found)


def own_notions(found: tuple[Entrant, ...]) -> list[str]:
    """Return the notions that policies are made for, and tuned by."""
    return [notion for entrant in found for notion in (entrant.notion, entrant.tuned_by)]


def _playing(listed: list[Mapping[str, Any]], part: str | None) -> list[dict[str, Any]]:
    """Return the policies that are not left out of this part."""
    return [
        {name: value for name, value in one.items() if name != "not_in"}
        for one in listed
        if part not in texts(f"not_in of {_label(one)}", one.get("not_in", []))
    ]


def _changed(listed: list[dict[str, Any]], changes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return policies with other settings for those labels that have them, tables on top of tables."""
    labels = [_label(one) for one in listed]
    for label in changes:
        choice("each of the changes", label, labels)
    return [
        merged(one, table(f"the changes of {label}", changes.get(label, {})))
        for label, one in zip(labels, listed, strict=True)
    ]


def _label(content: Mapping[str, Any]) -> str:
    kind = str(content.get("kind", ""))
    return str(content.get("label", kind.partition(":")[2] or kind))


def _swept(content: Mapping[str, Any]) -> Iterator[Entrant]:
    """Yield a policy, or one for each value of its sweep, none of which is tuned."""
    whole = _entrant({name: value for name, value in content.items() if name != "sweep"})
    if "sweep" not in content:
        yield whole
        return
    sweep = table(f"the sweep of {whole.label}", content["sweep"])
    if len(sweep) != 1 or whole.grid:
        raise ValueError(f"the sweep of {whole.label} must be of one setting, without a grid")
    ((name, values),) = sweep.items()
    if name in whole.fixed:
        raise ValueError(f"{whole.label} must have {name} in its sweep or beside it, not both")
    found = _values("sweep", whole.label, name, values)
    what = f"each {name} of the sweep of {whole.label}"
    for value in sorted(found, key=lambda value: rules.number(what, value)):
        label = f"{whole.label}, {name} {value}"
        yield whole._replace(label=label, grid={name: (value,)}, family=whole.label)


def _entrant(content: Mapping[str, Any]) -> Entrant:
    fixed = dict(content)
    if "kind" not in fixed:
        raise ValueError(f"each of the policies needs a kind, but one has {', '.join(fixed)}")
    label, kind = _label(fixed), str(fixed.pop("kind"))
    fixed.pop("label", None)
    notion = choice(f"the notion of {label}", str(fixed.pop("notion", "merit")), list(NOTIONS))
    what = f"what {label} is tuned_by"
    tuned_by = choice(what, str(fixed.pop("tuned_by", notion)), list(NOTIONS))
    grid = table(f"the grid of {label}", fixed.pop("grid", {}))
    for name, value in fixed.items():
        if isinstance(value, Mapping) and "kind" not in value:
            hint = rules.nearest(name, ["grid"], "a table must have a kind")
            raise ValueError(f"{label} has no table {name!r}{hint}")
    for name in grid:
        if is_set(fixed, name):
            raise ValueError(f"{label} must have {name} in its grid or beside it, not both")
        with_setting(fixed, name, None)  # refuses what leads nowhere
    points = {name: _values("grid", label, name, grid[name]) for name in grid}
    entrant = Entrant(label, kind, fixed, points, notion=notion, tuned_by=tuned_by)
    count = 1
    for values in entrant.grid.values():
        count *= len(values)
    if count > LARGEST_GRID:
        raise ValueError(
            f"the grid of {label} must have at most {LARGEST_GRID} points, not {count}"
        )
    return entrant


def _values(where: str, label: str, name: str, values: Any) -> tuple[Any, ...]:
    if not isinstance(values, list) or not values:
        raise ValueError(f"the {where} of {label} must list values of {name}, not {values!r}")
    if any(value in values[:i] for i, value in enumerate(values)):
        raise ValueError(f"the {where} of {label} must list each {name} once, not {values!r}")
    return tuple(values)
