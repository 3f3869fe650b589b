"""Eppo's bandit events, as its SDKs hand them to a logger or as a table of a warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairx.logs.selecting import TEXT, quoted
from fairx.logs.sources import Source, literal

from .dialect import Dialect, Row, chosen, keys_of, plain, rest

COLUMNS = {  # plain, the first that is there
    "time": ("timestamp",),
    "arm": ("action",),
    "propensity": ("actionprobability",),
    "policy": ("banditkey", "bandit", "key"),
    "version": ("modelversion",),
    "unit": ("subject",),
}
NUMERIC = "subjectnumericattributes"
UNREAD = ("subjectcategoricalattributes", "actionnumericattributes", "actioncategoricalattributes")
WRITTEN = {
    "timestamp": "time",
    "key": "policy",
    "subject": "unit",
    "action": "arm",
    "action_probability": "propensity",
    "model_version": "version",
}
ATTRIBUTES = tuple(
    f"{whose}_{kind}_attributes"
    for whose in ("subject", "action")
    for kind in ("numeric", "categorical")
)
HELD = (*COLUMNS, "context")


def translated(connection: Any, source: Source, types: Mapping[str, str]) -> Source:
    """Return our columns; numbers of the subject are the context, in the order of their names."""
    there = {plain(name): name for name in types}
    names = {
        ours: there[next(one for one in theirs if one in there)]
        for ours, theirs in COLUMNS.items()
        if there.keys() & set(theirs)
    }
    ours, used = {name: quoted(column) for name, column in names.items()}, set(names.values())
    more = [there[name] for name in UNREAD if name in there]
    said = {name: keys_of(connection, source, _given(name, types)) for name in more}
    notes = [f"{name} are not read: {', '.join(keys)}" for name, keys in said.items() if keys]
    used |= {name for name in more if not said[name]}
    if NUMERIC in there:
        given = _given(there[NUMERIC], types)
        keys = keys_of(connection, source, given)
        alike = bool(keys) and _least(connection, source, given) == len(keys)
        if alike:
            parts = [f"({given} ->> {literal(key)})::DOUBLE" for key in keys]
            ours["context"], used = f"[{', '.join(parts)}]", used | {there[NUMERIC]}
            notes.append(f"the context is: {', '.join(keys)}")
        used |= set() if keys else {there[NUMERIC]}
        if keys and not alike:
            notes.append(
                f"{there[NUMERIC]} are not read: not all of {', '.join(keys)} are in each row"
            )
    return source._replace(sql=chosen(source, types, ours, used), notes=tuple(notes))


def _given(name: str, types: Mapping[str, str]) -> str:
    """Return attributes as JSON, from text or from a mapping."""
    column = quoted(name)
    return f"TRY_CAST({column} AS JSON)" if types[name] in TEXT else f"to_json({column})"


def _least(connection: Any, source: Source, given: str) -> int:
    """Return how many attributes the row with the fewest has."""
    asked = f"SELECT min(coalesce(len(json_keys({given})), 0)) FROM ({source.sql})"
    return int(connection.execute(asked).fetchone()[0])


def made(row: Row) -> dict[str, Any]:
    """Return an event with the columns of a warehouse; features of the context are numbered."""
    numbers = {str(i): value for i, value in enumerate(row.get("context") or ())}
    known = {theirs: row[ours] for theirs, ours in WRITTEN.items() if ours in row}
    attributes: dict[str, Any] = {name: {} for name in ATTRIBUTES}
    return known | attributes | {"subject_numeric_attributes": numbers} | rest(row, HELD)


DIALECT = Dialect(
    "eppo",
    (frozenset({"action", "subject"}), frozenset({"action", "actionprobability"})),
    (".csv", ".jsonl", ".ndjson"),
    ("time",),
    False,
    translated,
    lambda log: made,
)
