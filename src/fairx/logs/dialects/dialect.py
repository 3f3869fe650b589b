"""What a dialect is, and what all of them need."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from fairx.logs.selecting import quoted
from fairx.logs.sources import Source

if TYPE_CHECKING:
    from fairx.logs.log import Log

Row = Mapping[str, Any]  # under our names


class Dialect(NamedTuple):
    """A way to write a log down.

    `translated` gives the SQL of our columns, where the file has others; those that it has under
    our names stay. `maker` gives, for a log, what makes a row as the dialect writes it: what the dialect
    has no name for goes under ours, which its own readers pass over. Dates are texts by then.
    """

    name: str
    marks: tuple[frozenset[str], ...]  # of one of these sets, plain, a log has all columns
    endings: tuple[str, ...]  # of files that it is written to; the first is its own
    needs: tuple[str, ...]
    slates: bool
    translated: Callable[[Any, Source, Mapping[str, str]], Source]
    maker: Callable[[Log], Callable[[Row], dict[str, Any]]]


def plain(name: str) -> str:
    """Return a name without its style: action_probability and actionProbability are one."""
    return name.replace("_", "").lower()


def recognised(dialects: Iterable[Dialect], types: Mapping[str, str]) -> str:
    """Return the name of the first dialect whose columns are there, or fairx."""
    there = {plain(name) for name in types}
    found = (one.name for one in dialects if any(marks <= there for marks in one.marks))
    return next(found, "fairx")


def chosen(source: Source, types: Mapping[str, str], ours: Row, used: Collection[str]) -> str:
    """Return the SQL of our columns, and of the others that were not used for them."""
    parts = [f"{sql} AS {name}" for name, sql in ours.items()]
    parts += [quoted(name) for name in types if name not in used and name not in ours]
    return f"SELECT {', '.join(parts)} FROM ({source.sql})"


def rest(row: Row, held: Collection[str]) -> dict[str, Any]:
    """Return what is left of a row, under our names."""
    return {name: value for name, value in row.items() if name not in held}


def without_gaps(row: Row) -> dict[str, Any]:
    """Return a row without what is not known."""
    return {name: value for name, value in row.items() if value is not None}


def keys_of(connection: Any, source: Source, objects: str) -> list[str]:
    """Return the keys of all objects of JSON; numbers are in their order."""
    asked = f"SELECT DISTINCT unnest(json_keys({objects})) FROM ({source.sql})"
    found = [key for (key,) in connection.execute(asked).fetchall()]
    return sorted(found, key=lambda key: (len(key), key))
