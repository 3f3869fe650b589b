"""Tables of others, row by row: of pandas, Arrow, columns by name, or a list of mappings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fairx import rules


def records_of(table: Any) -> list[Mapping[str, Any]]:
    """Return the rows of a table as mappings.

    Examples
    --------
    >>> records_of({"hour": [1, 2], "device": ["phone", None]})
    [{'hour': 1, 'device': 'phone'}, {'hour': 2, 'device': None}]
    """
    if hasattr(table, "to_pylist"):  # Arrow's
        return list(table.to_pylist())
    if hasattr(table, "to_dict"):  # that of pandas
        return list(table.to_dict("records"))
    if isinstance(table, Mapping):
        return _zipped(table)
    rows = list(table) if isinstance(table, Iterable) else [table]
    for row in rows:
        if not isinstance(row, Mapping):
            rule = f"be a table or mappings of features by name, not {row!r}"
            raise rules.InvalidValue("features", rule)
    return rows


def _zipped(columns: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rows of columns, which must be of one length."""
    lists = {}
    for name, column in columns.items():
        if isinstance(column, str) or not hasattr(column, "__len__"):
            rule = f"be a column, not {column!r}: a table has lists, one mapping is no table"
            raise rules.InvalidValue(f"feature {name!r}", rule)
        lists[name] = list(column)
    lengths = {len(column) for column in lists.values()}
    if len(lengths) > 1:
        raise rules.InvalidValue("columns", f"be of one length, not {sorted(lengths)}")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]
