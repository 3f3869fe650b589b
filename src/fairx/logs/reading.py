"""Reading a log: map its columns, number its pools, find what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from fairx import rules

from . import heads, problems, slates
from .columns import named, present
from .log import Log
from .selecting import TEXT, as_text, quoted, selection
from .sources import Source, connect, opened, readable

DENSE = 1_000_000_000  # decision numbers that spread no further are counted in a bit each
# Joined by the lists themselves: their hashes collide, hash([0, 1, 3]) = hash([1, 3]).
POOLS = """
CREATE TEMP TABLE orders AS
SELECT candidates, list_sort(candidates) AS arms,
  list_count(candidates) < len(candidates) AS gaps,
  list_unique(candidates) < list_count(candidates) AS repeats
FROM rows WHERE candidates IS NOT NULL GROUP BY candidates;
CREATE TEMP TABLE pools AS
SELECT arms, row_number() OVER (ORDER BY arms) - 1 AS pool FROM orders GROUP BY arms;
CREATE TEMP TABLE listed AS
SELECT candidates, pool, repeats, gaps, row_number() OVER () - 1 AS listing
FROM orders JOIN pools USING (arms)
"""
TWICE = """
CREATE TEMP TABLE twice AS
SELECT hash(decision) AS key FROM rows WHERE decision IS NOT NULL GROUP BY key HAVING count(*) > 1
"""
REPEATED = """
CREATE TEMP TABLE repeated AS
SELECT decision, min(row) AS first_row FROM rows WHERE hash(decision) IN (FROM twice)
GROUP BY decision HAVING count(*) > 1
"""


def read(
    log: Any,
    columns: Mapping[str, str] | str | os.PathLike[str] | None = None,
    *,
    dialect: str | None = None,
    strict: bool = False,
    memory: str = "1GB",
    threads: int | None = None,
) -> Log:
    """Return a decision log, of which nothing is loaded but what each question needs.

    Parameters
    ----------
    log
        A file that ends in .parquet, .csv or .jsonl (perhaps .gz), a folder of such files, or a
        table of pandas, pyarrow or polars.
    columns
        What the log calls our columns (`COLUMNS`), where it uses other names: a mapping, or a
        TOML file with one.
    dialect
        Whose columns the log has: fairx (ours), dsjson, open-bandit, coba or eppo. Without, ours, and
        where there is no arm, that dialect whose columns are there.
    strict
        Refuse the log at its first problem, instead of counting problems by kind.
    memory, threads
        What DuckDB may use. Beyond that memory it spills to a temporary folder.

    Examples
    --------
    >>> import pandas as pd
    >>> shown = pd.DataFrame({"item": ["a", "b", "a", None], "clicks": [1.0, 0.0, 0.0, 1.0]})
    >>> log = read(shown, {"arm": "item", "reward": "clicks"})
    >>> log.problems()
    {'missing arm': 1}
    >>> log.query("SELECT arm, avg(reward) AS mean FROM valid GROUP BY arm ORDER BY arm")["mean"]
    array([0.5, 0. ])
    """
    mapping = named(columns)
    rules.count("threads", 1 if threads is None else threads)
    connection = connect(memory, threads)
    name = str(log) if isinstance(log, (str, os.PathLike)) else "the table"
    with readable(name):
        source = _understood(connection, opened(connection, log), mapping, dialect)
        made = _made(connection, source, mapping)
        if strict:
            from .exporting import refuse

            refuse(made)
    return made


def _understood(
    connection: Any, source: Source, mapping: Mapping[str, str], dialect: str | None
) -> Source:
    """Return the source with our columns, where it has those of another dialect."""
    types = _types(connection, source)
    if dialect == "fairx" or (dialect is None and ("arm" in types or mapping.get("arm"))):
        return source
    from .dialects import DIALECTS, known, recognised

    name = dialect or recognised(DIALECTS.values(), types)
    return known(name).translated(connection, source, types)._replace(dialect=name)


def _types(connection: Any, source: Source) -> dict[str, str]:
    """Return the columns and their types."""
    found = connection.execute(f"DESCRIBE {source.sql}").fetchall()
    return {name: str(kind) for name, kind, *_ in found}


def _made(connection: Any, source: Source, mapping: Mapping[str, str]) -> Log:
    """Return the log of a source, whose columns are mapped and checked."""
    types = _types(connection, source)
    found = present(mapping, types)
    if source.kind == "csv":
        heads.refuse_twice(source.files, set(found.values()))
    derived = "probabilities" in found and "propensity" not in found
    known = f"REPLACE ({problems.LISTED} AS propensity)" if derived else ""
    # The row numbers cost nothing where no question needs them.
    connection.execute(
        f"CREATE TEMP VIEW rows AS SELECT * {known} FROM (SELECT row_number() OVER () AS row, "
        f"{selection(found, types)} FROM ({source.sql}))"
    )
    if "place" in found and "place" not in mapping:
        slates.refuse_texts(connection, source.sql)
    _view(connection, set(found) | ({"chance"} if derived or "propensity" in found else set()))
    others = tuple(name for name in types if name not in found.values())
    dated = _dated(connection, found, types, source)
    return Log(connection, source.name, found, source.kind, dated, others, source)


def _view(connection: Any, there: set[str]) -> None:
    """Make the views: `checked` with the problem of each row, and `valid`."""
    joins, extra = "", ["0::BIGINT AS pool"]
    if "candidates" in there:
        connection.execute(POOLS)
        joins, extra = "LEFT JOIN listed USING (candidates)", ["pool", "repeats", "gaps", "listing"]
    if {"decision", "place"} <= there:
        slates.view(connection, there, joins, extra)
        return
    if "decision" in there and _repeats(connection):
        there = there | {"repeated"}
        joins += " LEFT JOIN repeated USING (decision)"
        extra.append("first_row")
    connection.execute(
        f"CREATE TEMP VIEW checked AS SELECT *, {problems.mask(there)} AS problem "
        f"FROM (SELECT rows.*, {', '.join(extra)} FROM rows {joins});"
        "CREATE TEMP VIEW valid AS SELECT * FROM checked WHERE problem = 0"
    )


def _repeats(connection: Any) -> bool:
    """Tell whether a decision occurs twice, and make the table of those that do."""
    sql = "SELECT count(decision), typeof(any_value(decision)) FROM rows"
    count, kind = connection.execute(sql).fetchone()
    if not count or (kind == "BIGINT" and _all_differ(connection, count)):
        return False
    connection.execute(TWICE)
    if not connection.execute("SELECT count(*) FROM twice").fetchone()[0]:
        return False
    connection.execute(REPEATED)
    return bool(connection.execute("SELECT count(*) FROM repeated").fetchone()[0])


def _all_differ(connection: Any, count: int) -> bool:
    """Tell whether whole numbers are known to differ: a bit for each, where they lie close."""
    low, high = connection.execute("SELECT min(decision), max(decision) FROM rows").fetchone()
    if high - low >= DENSE:
        return False
    sql = f"SELECT bit_count(bitstring_agg(decision, {low}, {high})) FROM rows"
    (distinct,) = connection.execute(sql).fetchone()
    return bool(distinct == count)


def _dated(connection: Any, found: dict[str, str], types: dict[str, str], source: Source) -> bool:
    """Tell whether times are dates; texts are judged by the first of them."""
    kind = types[found["time"]] if "time" in found else ""
    if kind not in TEXT:
        return kind.startswith(("TIMESTAMP", "DATE"))
    text = as_text(quoted(found["time"]), kind)
    sql = f"SELECT TRY_CAST({text} AS DOUBLE) IS NULL FROM ({source.sql}) WHERE {text} IS NOT NULL"
    return bool((connection.execute(f"{sql} LIMIT 1").fetchone() or (False,))[0])
