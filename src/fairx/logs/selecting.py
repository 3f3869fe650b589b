"""The SQL of our columns: how columns of any type become them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .columns import COLUMNS

WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
TEXT = {"VARCHAR", "JSON"}
NUMERIC = (
    *WHOLE,
    "UBIGINT",
    "HUGEINT",
    "UHUGEINT",
    "DECIMAL",
    "FLOAT",
    "DOUBLE",
    "BOOLEAN",
    '"NULL"',
)
YEAR_100 = -59_011_459_200  # seconds since 1970
NUMBERS = ("time", "reward_time", "propensity", "reward", "place", "weight")


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


def _number(name: str, kind: str, otherwise: str = "'nan'") -> str:
    """Return a number; what cannot be read as one is not a number, which is a problem."""
    if kind not in TEXT:
        return _as_number(name, kind, "numbers")
    text = as_text(name, kind)
    said = f"coalesce(TRY_CAST({text} AS DOUBLE), {otherwise})"
    return f"CASE WHEN {text} IS NOT NULL THEN {said} END"


def _reward(name: str, kind: str) -> str:
    """Return a number, or 1 and 0 for true and false, which PostgreSQL writes as t and f."""
    truths = "WHEN 'true' THEN 1 WHEN 't' THEN 1 WHEN 'false' THEN 0 WHEN 'f' THEN 0"
    return _number(name, kind, f"CASE lower({as_text(name, kind)}) {truths} END, 'nan'")


def _as_number(name: str, kind: str, wanted: str) -> str:
    if kind.partition("(")[0] not in NUMERIC:
        raise ValueError(f"column {name} must hold {wanted}, not {kind}")
    return f"{name}::DOUBLE"


def _time(name: str, kind: str) -> str:
    """Return seconds since 1970 for dates (UTC where they do not say), numbers as they are."""
    if kind.startswith(("TIMESTAMP", "DATE")):
        exact = f"{name}::TIMESTAMPTZ" if kind == "TIMESTAMPTZ_NS" else name
        return f"epoch({exact})::DOUBLE"
    if kind == "INTERVAL":  # as pandas counts from a start
        return f"epoch({name})::DOUBLE"
    if kind not in TEXT:
        return _as_number(name, kind, "numbers, or dates with times")
    text = as_text(name, kind)
    date = f"epoch(TRY_CAST({text} AS TIMESTAMPTZ))"
    # 01/02/26 is a day of the year 1 to DuckDB, and of no year to us
    read = f"TRY_CAST({text} AS DOUBLE), CASE WHEN {date} > {YEAR_100} THEN {date} END"
    return f"CASE WHEN {text} IS NOT NULL THEN coalesce({read}, 'nan') END"


def _listed(name: str, wanted: str, kind: str) -> str:
    """Return a list: of a list, of a JSON array as text, or of text with | ; , or spaces between."""
    if kind.endswith("]") or kind == '"NULL"':  # pandas writes that where nothing is there
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
