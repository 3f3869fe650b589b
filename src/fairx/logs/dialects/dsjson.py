"""`dsjson`, the log of decisions of Vowpal Wabbit and of Azure Personalizer: JSON lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairx.logs.sources import Source

from .dialect import Dialect, Row, chosen, keys_of, rest, without_gaps

# An action is called by its tag, as Personalizer does, or else by its number in the list, from 1 on.
ACTIONS = "json_extract(c, '$._multi[*]')"
NAMES = (
    f"list_transform({ACTIONS}, lambda action, i: "
    "coalesce(action ->> '$._tag', action ->> '$.i.id', i::VARCHAR))"
)
UNNAMED = (
    f"len(list_filter({ACTIONS}, lambda action: "
    "coalesce(action ->> '$._tag', action ->> '$.i.id') IS NULL))"
)
USED = ("_label_cost", "_label_probability", "_label_Action", "_labelIndex", "Version",
        "Timestamp", "EventId", "a", "p", "c", "VWState")  # fmt: skip
OPTIONAL = ("_skipLearn", "pdrop", "_original_label_cost")
SLOTS = "_outcomes"
HELD = ("decision", "time", "candidates", "arm", "propensity", "probabilities", "context",
        "reward", "version")  # fmt: skip


def translated(connection: Any, source: Source, types: Mapping[str, str]) -> Source:
    """Return our columns of lines with one choice each; features are numbers in a list, or not read."""
    if SLOTS in types:
        cause = "their probabilities are given the places before"
        raise ValueError(
            f"{source.name} must have one choice a line, not several ({SLOTS}): {cause}"
        )
    there = {name: name if name in types else "NULL::JSON" for name in (*USED, *OPTIONAL)}
    skipped = f"coalesce(TRY_CAST({there['_skipLearn']} AS BOOLEAN), false)"
    ranks = f"TRY_CAST({there['a']} AS INTEGER[])"
    number = f"coalesce(TRY_CAST({there['_label_Action']} AS INTEGER), {ranks}[1])"
    chances = f"TRY_CAST({there['p']} AS DOUBLE[])"
    own = "propensity" if "propensity" in types else "NULL"
    ours = {
        "decision": f"{there['EventId']} ->> '$'",
        "time": f"{there['Timestamp']} ->> '$'",
        "candidates": NAMES,
        "arm": f"CASE WHEN NOT {skipped} THEN {NAMES}[{number}] END",
        "propensity": f"TRY_CAST(coalesce({there['_label_probability']}, {own}) AS DOUBLE)",
        "probabilities": f"list_transform({ranks}, lambda rank, i: {chances}[list_position({ranks}, i)])",
        "reward": f"0 - TRY_CAST({there['_label_cost']} AS DOUBLE)",
        "version": f"{there['VWState']} ->> '$.m'",
        "context": "TRY_CAST(c -> '$.context' AS DOUBLE[])",
    }
    lacking = {
        "reward": "_label_cost",
        "time": "Timestamp",
        "decision": "EventId",
        "version": "VWState",
        "probabilities": "p",
    }
    ours = {name: sql for name, sql in ours.items() if lacking.get(name, "c") in types}
    features = set(keys_of(connection, source, "c")) - {"_multi"}
    if "context" not in features:
        del ours["context"]
    read = source._replace(sql=chosen(source, types, ours, (*USED, "propensity")))
    unread = sorted(features - {"context"})
    return read._replace(notes=_notes(connection, source, there, skipped, unread))


def _notes(
    connection: Any, source: Source, there: Row, skipped: str, unread: Sequence[str]
) -> tuple[str, ...]:
    """Return in words what was found that our columns do not hold."""
    dropped = f"coalesce(TRY_CAST({there['pdrop']} AS DOUBLE), 0)"
    first, now = (
        f"TRY_CAST({there[name]} AS DOUBLE)" for name in ("_original_label_cost", "_label_cost")
    )
    asked = (
        f"SELECT count(*) FILTER ({skipped}), max({UNNAMED}), min({dropped}), max({dropped}), "
        f"count(*) FILTER ({first} <> {now}) FROM ({source.sql})"
    )
    inactive, unnamed, least, most, other = connection.execute(asked).fetchone()
    if least != most:
        cause = "decisions were thinned out unevenly, and a log here has no weights of decisions"
        raise ValueError(f"pdrop must be the same in all of {source.name}: {cause}")
    said = {
        f"{inactive:,} decisions were never activated (_skipLearn): they have no arm": inactive,
        "some actions have no _tag: they are called by their number in the list": unnamed,
        f"decisions were thinned out (pdrop {most}): counts are of those that are left": most,
        f"the reward is -_label_cost, not -_original_label_cost, in {other:,} decisions": other,
        f"features are not read: {', '.join(unread)}, and those of actions": unread,
    }
    return tuple(words for words, holds in said.items() if holds)


def made(row: Row) -> dict[str, Any]:
    """Return a line; one without a reward has no label, so that nothing is learned from it."""
    arms, chances = [str(arm) for arm in row["candidates"]], row.get("probabilities")
    number = arms.index(str(row["arm"])) + 1
    ranks = [
        number,
        *(i for i in range(1, len(arms) + 1) if i != number),
    ]  # the chosen one is first
    context, decision, version = (row.get(name) for name in ("context", "decision", "version"))
    inner = {} if context is None else {"context": context}
    line = {
        **_label(number, row.get("reward"), row["propensity"]),
        # A time that is no date is under our name: theirs is a date always.
        "Timestamp" if isinstance(row.get("time"), str) else "time": row.get("time"),
        "Version": "1",
        "EventId": None if decision is None else str(decision),
        "a": ranks,
        "c": inner | {"_multi": [_action(arm) for arm in arms]},
        "p": chances and [chances[i - 1] for i in ranks],
        "VWState": None if version is None else {"m": version},
        **rest(row, HELD),
    }
    return without_gaps(line)


def _label(number: int, reward: float | None, propensity: float) -> dict[str, Any]:
    if reward is None:
        return {"propensity": propensity}
    label = {"_label_cost": 0 - reward, "_label_probability": propensity}
    return label | {"_label_Action": number, "_labelIndex": number - 1}


def _action(arm: str) -> dict[str, Any]:
    """Return an action with a feature of its own, so that Vowpal Wabbit can tell it from others."""
    return {"_tag": arm, "i": {"constant": 1, "id": arm}}


DIALECT = Dialect(
    "dsjson",
    (frozenset({"c", "labelcost"}), frozenset({"c", "eventid"}), frozenset({"c", "a", "version"})),
    (".dsjson", ".json", ".jsonl", ".ndjson"),
    ("candidates", "propensity"),
    False,
    translated,
    lambda log: made,
)
