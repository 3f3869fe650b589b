"""Eppo's bandit events, as its SDKs hand them to a logger or as a table of a warehouse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairx.logs.selecting import TEXT, quoted
from fairx.logs.sources import Source, literal

from .dialect import Dialect, Row, chosen, plain, rest

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
    said = {name: _keys(connection, source, _given(name, types))[0] for name in more}
    notes = [f"{name} are not read: {', '.join(keys)}" for name, keys in said.items() if keys]
    used |= {name for name in more if not said[name]}
    if NUMERIC in there:
        given = _given(there[NUMERIC], types)
        keys, alike = _keys(connection, source, given)
        if alike:
            parts = [f"({given} ->> {literal(key)})::DOUBLE" for key in keys]
            ours["context"], used = f"[{', '.join(parts)}]", used | {there[NUMERIC]}
            notes.append(f"the context is: {', '.join(keys)}")
        elif keys:
            notes.append(
                f"{there[NUMERIC]} are not read: not all of {', '.join(keys)} are in each row"
            )
    return source._replace(sql=chosen(source, types, ours, used), notes=tuple(notes))


def _given(name: str, types: Mapping[str, str]) -> str:
    """Return attributes as JSON, from text or from a mapping."""
    column = quoted(name)
    return f"TRY_CAST({column} AS JSON)" if types[name] in TEXT else f"to_json({column})"


def _keys(connection: Any, source: Source, given: str) -> tuple[list[str], bool]:
    """Return the names of numbers, and whether each row has them all."""
    asked = f"list_distinct(flatten(list(json_keys({given})))), min(coalesce(len(json_keys({given})), 0))"
    keys, least = connection.execute(f"SELECT {asked} FROM ({source.sql})").fetchone()
    return sorted(keys or (), key=lambda key: (len(key), key)), bool(keys) and least == len(keys)


def made(row: Row) -> dict[str, Any]:
    """Return an event with the columns of a warehouse; features of the context are numbered."""
    numbers = {str(i): value for i, value in enumerate(row.get("context") or ())}
    found = {
        "timestamp": row["time"],
        "key": row.get("policy"),
        "subject": row.get("unit"),
        "subject_numeric_attributes": numbers,
        "subject_categorical_attributes": {},
        "action": str(row["arm"]),
        "action_numeric_attributes": {},
        "action_categorical_attributes": {},
        "action_probability": row.get("propensity"),
        "model_version": row.get("version"),
    }
    return found | rest(row, HELD)


DIALECT = Dialect(
    "eppo",
    (frozenset({"action", "subject"}), frozenset({"action", "actionprobability"})),
    (".csv", ".jsonl", ".ndjson"),
    ("time",),
    False,
    translated,
    lambda log: made,
)
