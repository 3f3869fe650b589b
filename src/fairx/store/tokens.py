"""Tokens on record: of each a digest, never the token."""

from __future__ import annotations

from typing import NamedTuple

from .database import Database
from .errors import NotFound


class Token(NamedTuple):
    """A token that is valid."""

    id: str
    name: str
    role: str
    experiment: str | None  # None: all of them
    digest: str
    created: float


def valid_tokens(database: Database, number: str | None = None) -> list[Token]:
    """Return the tokens that are not revoked, the oldest first; or the one of this id."""
    columns = ", ".join(Token._fields)
    one = "" if number is None else " AND id = ?"
    sql = f"SELECT {columns} FROM tokens WHERE revoked IS NULL{one} ORDER BY created"
    return [Token(*row) for row in database.rows(sql, () if number is None else (number,))]


def has_tokens(database: Database) -> bool:
    """Tell whether any token is valid."""
    return bool(database.rows("SELECT id FROM tokens WHERE revoked IS NULL LIMIT 1"))


def create_token(database: Database, token: Token) -> None:
    """Write a new token."""
    database.rows("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, NULL)", token)


def revoke_token(database: Database, number: str, time: float) -> None:
    """Make one token invalid."""
    sql = "UPDATE tokens SET revoked = ? WHERE id = ? AND revoked IS NULL RETURNING id"
    # PostgreSQL takes no zeros in texts; no token has any.
    if not number.isalnum() or not database.rows(sql, (time, number)):
        raise NotFound(f"token {number!r} does not exist")


def revoke_tokens_of(database: Database, experiment: str, time: float) -> None:
    """Make all tokens of an experiment invalid: the next one of its name is another."""
    sql = "UPDATE tokens SET revoked = ? WHERE experiment = ? AND revoked IS NULL"
    database.rows(sql, (time, experiment))
