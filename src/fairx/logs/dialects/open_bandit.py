"""The Open Bandit format, which `obp` reads: a row for each place of a page, without decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from fairx.logs.selecting import quoted
from fairx.logs.sources import Source

from .dialect import Dialect, Row, chosen, rest

if TYPE_CHECKING:
    from fairx.logs.log import Log

COLUMNS = {
    "time": "timestamp",
    "arm": "item_id",
    "place": "position",
    "reward": "click",
    "propensity": "propensity_score",
}
NAME, FEATURE = "item_name", "user_feature_"
HELD = (*COLUMNS, "context")


def translated(connection: Any, source: Source, types: Mapping[str, str]) -> Source:
    """Return our columns; a position that is always 1 is none, and features must be numbers."""
    ours = {name: quoted(column) for name, column in COLUMNS.items() if column in types}
    index = re.compile(r"column\d+|Unnamed: 0")  # of a column without a name, as pandas writes
    used = {*COLUMNS.values(), *(name for name in list(types)[:1] if index.fullmatch(name))}
    notes: tuple[str, ...] = ()
    if NAME in types:
        ours["arm"], used = quoted(NAME), used | {NAME}
    if "position" in types:
        most = f"SELECT max(TRY_CAST(position AS DOUBLE)) FROM ({source.sql})"
        if connection.execute(most).fetchone()[0] == 1:
            del ours["place"]
    features = [name for name in types if name.startswith(FEATURE)]
    numbers = ", ".join(f"TRY_CAST({quoted(name)} AS DOUBLE)" for name in features)
    if features:
        context = f"[{numbers}]"
        first = f"SELECT list_count({context}) FROM ({source.sql}) LIMIT 1"
        if (connection.execute(first).fetchone() or (0,))[0] == len(features):
            ours["context"], used = context, used | set(features)
        else:
            notes = (f"{FEATURE}* are not read as context: they are no numbers",)
    return source._replace(sql=chosen(source, types, ours, used), notes=notes)


def maker(log: Log) -> Callable[[Row], dict[str, Any]]:
    """Return what makes rows; arms that are no whole numbers from 0 on have a name beside theirs."""
    arms = log.query("SELECT DISTINCT arm FROM valid ORDER BY arm")["arm"].tolist()
    index = count()  # which obp takes the first column for
    if all(re.fullmatch(r"0|[1-9]\d{0,17}", str(arm)) for arm in arms):
        return lambda row: {"": next(index)} | made(row)
    numbers = {arm: number for number, arm in enumerate(arms)}
    return lambda row: (
        {"": next(index)} | made(row) | {"item_id": numbers[row["arm"]], NAME: row["arm"]}
    )


def made(row: Row) -> dict[str, Any]:
    """Return a row of the file; one of a log without places is at position 1."""
    found = {column: row.get(name) for name, column in COLUMNS.items()}
    found["position"] = int(row.get("place") or 1)
    features = enumerate(row.get("context") or ())
    return found | {f"{FEATURE}{i}": value for i, value in features} | rest(row, HELD)


DIALECT = Dialect(
    "open-bandit",
    (frozenset({"itemid", "propensityscore"}), frozenset({"itemid", "click", "position"})),
    (".csv",),
    ("time", "reward", "propensity"),
    True,
    translated,
    maker,
)
