"""The columns of a log, and how columns of any type become them."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fairx import rules

COLUMNS = {
    "decision": "what the decision is called; each once",
    "time": "when it was made: a date with time, or a number",
    "candidates": "the arms that could be chosen",
    "arm": "the arm that was chosen",
    "propensity": "the probability with which it was chosen",
    "probabilities": "those of all candidates, in the same order",
    "context": "the features that the policy saw, a list of numbers",
    "reward": "what came of it; missing where that is not known",
    "reward_time": "when the reward came",
    "policy": "the name of the policy",
    "version": "its version",
    "place": "the place on a page, from 1 on; a decision then has a row for each place",
    "weight": "how much that place is seen",
    "exposures": "those of all candidates, in the same order: the expected weight of the place of each",
    "unit": "who was shown it: a user, whose decisions may be alike",
    "stratum": "the part of the log in which means do not vary: a place, a kind of reader",
}
OF_PLACES = ("weight", "exposures")  # read where there is a place: other logs may mean other things
WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
TEXT = {"VARCHAR", "JSON"}
NUMBERS = ("time", "reward_time", "propensity", "reward", "place", "weight")


def named(columns: Mapping[str, str] | str | os.PathLike[str] | None) -> dict[str, str]:
    """Return the mapping from our names to those of the log, from a mapping or a TOML file.

    Examples
    --------
    >>> named({"arms": "item_id"})
    Traceback (most recent call last):
    ValueError: columns has no key 'arms': did you mean 'arm'?
    """
    mapping: dict[str, Any]
    if isinstance(columns, (str, os.PathLike)):
        found = tomllib.loads(Path(columns).read_text("utf-8"))
        mapping = found.get("columns", found)
    else:
        mapping = dict(columns or {})
    for key, name in mapping.items():
        if key not in COLUMNS:
            raise ValueError(f"columns has no key {key!r}{_hint(key, COLUMNS)}")
        if not isinstance(name, str):
            raise TypeError(f"columns[{key!r}] must be the name of a column, not {name!r}")
    return mapping


def present(mapping: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that this log has: the mapped ones, and those that bear our names.

    Examples
    --------
    >>> present({"arm": "item"}, {"item": "BIGINT", "reward": "DOUBLE"})
    {'arm': 'item', 'reward': 'reward'}
    """
    for key, name in mapping.items():
        if name not in there:
            raise ValueError(f"the log has no column {name!r} for {key}{_hint(name, there)}")
    found = {key: mapping.get(key, key) for key in COLUMNS if mapping.get(key, key) in there}
    if "place" not in found:
        found = {key: name for key, name in found.items() if key in mapping or key not in OF_PLACES}
    if "arm" not in found:
        raise ValueError(
            f"the log has no column 'arm': say which of {', '.join(map(repr, there))} holds it, "
            "as columns={'arm': ...} or --arm"
        )
    if "probabilities" in found and "candidates" not in found:
        raise ValueError("probabilities need candidates: the arms that they are the chances of")
    _check_places(found)
    return found


def _check_places(found: Mapping[str, str]) -> None:
    """Refuse columns of slates without what they are about."""
    for key in OF_PLACES:
        if key in found and "place" not in found:
            raise ValueError(f"{key} needs place: the place on the page that a row is about")
    for key in ("candidates", "weight", "decision"):
        if "exposures" in found and key not in found:
            raise ValueError(f"exposures need {key}: they are of all candidates of a decision")


def selection(found: Mapping[str, str], types: Mapping[str, str]) -> str:
    """Return the SQL of all our columns; those that the log lacks are NULL."""
    whole = all(
        types[found[key]].removesuffix("[]") in WHOLE
        for key in ("arm", "candidates")
        if key in found
    )
    arm = "BIGINT" if whole else "VARCHAR"
    forms: dict[str, Callable[[str, str], str]] = {
        "decision": lambda name, kind: f"{name}::BIGINT" if kind in WHOLE else as_text(name, kind),
        "time": _time,
        "candidates": lambda name, kind: _listed(name, f"{arm}[]", kind),
        "arm": lambda name, kind: f"{name}::BIGINT" if whole else as_text(name, kind),
        "propensity": _number,
        "probabilities": lambda name, kind: _listed(name, "DOUBLE[]", kind),
        "context": lambda name, kind: _listed(name, "DOUBLE[]", kind),
        "reward": _reward,
        "reward_time": _time,
        "policy": as_text,
        "version": as_text,
        "place": _number,
        "weight": _number,
        "exposures": lambda name, kind: _listed(name, "DOUBLE[]", kind),
        "unit": as_text,
        "stratum": as_text,
    }
    lists = dict.fromkeys(("probabilities", "context", "exposures"), "DOUBLE[]")
    empty = lists | {"candidates": f"{arm}[]"}
    parts = []
    for key in COLUMNS:
        if key in found:
            sql = forms[key](quoted(found[key]), types[found[key]])
        else:
            numeric = key in NUMBERS
            sql = f"NULL::{empty.get(key, 'DOUBLE' if numeric else 'VARCHAR')}"
        parts.append(f"{sql} AS {key}")
    return ", ".join(parts)


def quoted(name: str) -> str:
    """Return a name as SQL takes it."""
    return '"' + name.replace('"', '""') + '"'


def as_text(name: str, kind: str) -> str:
    """Return a text, of JSON or of anything."""
    return f"({name} ->> '$')" if kind == "JSON" else f"{name}::VARCHAR"


def _number(name: str, kind: str) -> str:
    """Return a number; what cannot be read as one is not a number, which is a problem."""
    if kind not in TEXT:
        return f"{name}::DOUBLE"
    text = as_text(name, kind)
    return f"CASE WHEN {text} IS NOT NULL THEN coalesce(TRY_CAST({text} AS DOUBLE), 'nan') END"


def _reward(name: str, kind: str) -> str:
    """Return a number, or 1 and 0 for true and false."""
    if kind not in TEXT:
        return f"{name}::DOUBLE"
    text = as_text(name, kind)
    said = (
        f"TRY_CAST({text} AS DOUBLE), CASE lower({text}) WHEN 'true' THEN 1 WHEN 'false' THEN 0 END"
    )
    return f"CASE WHEN {text} IS NOT NULL THEN coalesce({said}, 'nan') END"


def _time(name: str, kind: str) -> str:
    """Return seconds since 1970 for dates (UTC where they do not say), numbers as they are."""
    if kind.startswith(("TIMESTAMP", "DATE")):
        exact = f"{name}::TIMESTAMPTZ" if kind == "TIMESTAMPTZ_NS" else name
        return f"epoch({exact})::DOUBLE"
    if kind not in TEXT:
        return f"{name}::DOUBLE"
    text = as_text(name, kind)
    read = f"TRY_CAST({text} AS DOUBLE), epoch(TRY_CAST({text} AS TIMESTAMPTZ))"
    return f"CASE WHEN {text} IS NOT NULL THEN coalesce({read}, 'nan') END"


def _listed(name: str, wanted: str, kind: str) -> str:
    """Return a list: of a list, of a JSON array as text, or of text with | ; , or spaces between."""
    if kind.endswith("]"):
        return f"TRY_CAST({name} AS {wanted})"
    if kind not in TEXT:
        raise ValueError(f"column {name} must hold lists, not {kind}")
    text = f"trim({as_text(name, kind)})"
    array = f"CASE WHEN json_valid({text}) THEN {text}::JSON END"
    splits = " ".join(
        f"WHEN contains({text}, '{mark}') "
        f"THEN list_transform(string_split({text}, '{mark}'), lambda part: trim(part))"
        for mark in "|;,"
    )
    return (
        f"TRY_CAST(CASE WHEN {text} = '' THEN NULL WHEN starts_with({text}, '[') "
        f"THEN TRY_CAST({array} AS VARCHAR[]) {splits} "
        f"ELSE string_split_regex({text}, '\\s+') END AS {wanted})"
    )


def _hint(name: str, names: Mapping[str, str]) -> str:
    return rules.nearest(name, names, f"choose from {', '.join(names)}")
