"""coba's interactions, of a file that `Environments.save` made, or as JSON lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairx.logs.selecting import quoted
from fairx.logs.sources import Source

from .dialect import Dialect, Row, chosen, rest, without_gaps

COLUMNS = {
    "arm": "action",
    "candidates": "actions",
    "propensity": "probability",
    "reward": "reward",
}
HELD = (*COLUMNS, "context")


def translated(connection: Any, source: Source, types: Mapping[str, str]) -> Source:
    """Return our columns; a context that is no list of numbers is not read."""
    ours = {name: quoted(column) for name, column in COLUMNS.items() if column in types}
    used, notes = set(COLUMNS.values()), tuple[str, ...]()
    if "context" in types:
        numbers, there = "TRY_CAST(context AS DOUBLE[])", "json_type(context) <> 'NULL'"
        asked = f"count({numbers}), count(*) FILTER ({there}) FROM ({source.sql})"
        read, count = connection.execute(f"SELECT {asked}").fetchone()
        used |= {"context"} if read == count else set()
        ours |= {"context": numbers} if read else {}
        if count > read:
            lost = f"{count - read:,} decisions is not read: it is no list of numbers"
            notes = (f"the context of {lost}",)
    return source._replace(sql=chosen(source, types, ours, used), notes=notes)


def made(row: Row) -> dict[str, Any]:
    """Return an interaction, in which what is not known is left out, but for context and reward."""
    found = {"context": row.get("context"), "action": row["arm"], "reward": row.get("reward")}
    known = {"probability": row.get("propensity"), "actions": row.get("candidates")}
    return found | without_gaps(known | rest(row, HELD))


DIALECT = Dialect(
    "coba",
    (frozenset({"action", "reward", "context"}), frozenset({"action", "reward", "probability"})),
    (".zip", ".jsonl", ".ndjson"),
    ("reward",),
    False,
    translated,
    lambda log: made,
)
