"""What the store asks of a database: SQL with `?` for values, in transactions."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .sealing import Ledger

Row = tuple[Any, ...]
MOST = 256  # rows in one statement: databases bound the number of its values
MOST_LISTED = 4096  # values of a list in one


class Database(Protocol):
    """A connection to SQLite or PostgreSQL, used by one thread at a time."""

    lock: str  # what makes a SELECT lock its rows until the end of the transaction
    claim: str  # the same, but rows that others have locked are left out
    ledger: Ledger | None  # where what is written is sealed
    known_arms: dict[int, tuple[int, tuple[Any, ...]]]  # of experiments, and since which version

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run one statement and return what it yields."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Commit what is done inside, durably, or nothing of it."""
        ...

    def check(self) -> None:
        """Refuse a store that is damaged."""
        ...

    def identity(self) -> str:
        """Return what tells this store from a copy of it."""
        ...

    def probe(self) -> None:
        """Write something that leaves no trace: what is wrong with writing is raised."""
        ...

    def has_archive(self) -> bool:
        """Tell whether any decision may be archived."""
        ...

    def announce(self, experiment: int) -> None:
        """Tell other processes, when this transaction commits, of a new snapshot."""
        ...

    def news(self) -> set[int]:
        """Return what other processes announced since the last call."""
        ...

    def is_lost(self, error: Exception) -> bool:
        """Tell whether an error means that the connection can no longer be used."""
        ...

    def is_transient(self, error: Exception) -> bool:
        """Tell whether the transaction can just be tried again."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def rows_among(database: Database, sql: str, values: Sequence[Any], *before: Any) -> list[Row]:
    """Run a statement that takes a list for its `{}`, a part at a time; `before` come before the list."""
    found: list[Row] = []
    for start in range(0, len(values), MOST_LISTED):
        marks, part = _listed(values[start : start + MOST_LISTED])
        found += database.rows(sql.format(marks), [*before, *part])
    return found


def _listed(values: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return the placeholders of a list and its values, the last repeated up to a power of two.

    Statements of few different lengths are prepared once and kept.

    Examples
    --------
    >>> _listed(["a", "b", "c"])
    ('?,?,?,?', ['a', 'b', 'c', 'c'])
    """
    count = 1 << (len(values) - 1).bit_length()
    return ",".join("?" * count), [*values, *[values[-1]] * (count - len(values))]


def grouped(rows: Sequence[Sequence[Any]]) -> Iterator[tuple[str, list[Any]]]:
    """Yield rows in groups of a power of two: placeholders and values for one INSERT each.

    One statement for many rows is not only quicker: each statement gives other threads the
    chance to keep this one waiting.

    Examples
    --------
    >>> list(grouped([(1, 2), (3, 4), (5, 6)]))
    [('(?,?),(?,?)', [1, 2, 3, 4]), ('(?,?)', [5, 6])]
    """
    start = 0
    while start < len(rows):
        count = min(1 << (len(rows) - start).bit_length() - 1, MOST)
        part = rows[start : start + count]
        yield _marks(count, len(part[0])), [value for row in part for value in row]
        start += count


@functools.lru_cache(maxsize=256)
def _marks(rows: int, values: int) -> str:
    return ",".join(["(" + ",".join("?" * values) + ")"] * rows)


def insert_new(
    database: Database, table: str, columns: str, rows: Sequence[Sequence[Any]], returned: str
) -> list[Row]:
    """Insert the rows whose first column, an id, is not there yet; return columns of those.

    Of two of one id the first is inserted. All processes go by the order of ids, or they might
    wait for each other.
    """
    name = columns.partition(",")[0]
    end = f"ON CONFLICT ({name}) DO NOTHING RETURNING {returned}"
    found: list[Row] = []
    for marks, values in grouped(sorted(rows, key=lambda row: row[0])):
        found += database.rows(f"INSERT INTO {table} ({columns}) VALUES {marks} {end}", values)
    return found


def add(database: Database, table: str, rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows into a table, all columns of it."""
    for marks, values in grouped(rows):
        database.rows(f"INSERT INTO {table} VALUES {marks}", values)


def write_nothing(database: Database) -> None:
    """Write a line and take it back, in one transaction: the disk is written all the same."""
    name = f"probe {secrets.token_hex(8)}"
    database.rows("INSERT INTO meta VALUES (?, '')", (name,))
    database.rows("DELETE FROM meta WHERE name = ?", (name,))
