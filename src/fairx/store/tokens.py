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
    expires: float | None = None  # seconds since 1970; a table of its own, for stores of before


ENDS = (
    "INSERT INTO token_ends VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET expires = excluded.expires"
)


def valid_tokens(database: Database, number: str | None = None) -> list[Token]:
    """Return the tokens that are not revoked, the oldest first; or the one of this id."""
    columns = ", ".join(f"t.{name}" for name in Token._fields[:-1])
    one = "" if number is None else " AND t.id = ?"
    sql = (
        f"SELECT {columns}, e.expires FROM tokens t LEFT JOIN token_ends e ON e.id = t.id "
        f"WHERE t.revoked IS NULL{one} ORDER BY t.created"
    )
    return [Token(*row) for row in database.rows(sql, () if number is None else (number,))]


def has_tokens(database: Database) -> bool:
    """Tell whether any token is valid."""
    return bool(database.rows("SELECT id FROM tokens WHERE revoked IS NULL LIMIT 1"))


def create_token(database: Database, token: Token) -> None:
    """Write a new token."""
    database.rows("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, NULL)", token[:-1])
    if token.expires is not None:
        database.rows(ENDS, (token.id, token.expires))


def end_token(database: Database, number: str, expires: float) -> Token:
    """Have a token expire, not later than it would; return it as it was."""
    found = valid_tokens(database, number) if number.isalnum() else []
    if not found:
        raise NotFound(f"token {number!r} does not exist")
    (token,) = found
    database.rows(ENDS, (number, min(expires, token.expires or expires)))
    return token


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
