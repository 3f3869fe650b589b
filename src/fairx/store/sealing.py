"""Seals: keyed sums over the lines of the log, in which a line that is gone or changed is missed.

A sum is over keyed digests of lines, modulo 2^256, so that lines can be added and taken out in any
order, by several processes, in the transactions that write them: it is the multiset hash
MSet-Add-Hash of Clarke, Devadas, van Dijk, Gassend and Suh (ASIACRYPT 2003). What is stored is blinded
with a number that is new each time: who can write the tables but has not the secret learns the
digest of no line, and so cannot take one out of the sum. To put all tables back to an earlier
moment, sums included, is not seen by them.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.msgpack import Encoder

if TYPE_CHECKING:
    from .database import Database

ENCODER = Encoder()
MODULUS = 1 << 256
ALL = 0  # the experiment of lines that are of none
Key = tuple[int, str]  # an experiment, and a kind of lines
Sum = tuple[int, int]  # of how many lines, and of their digests
UPSERT = """
INSERT INTO seals VALUES {} ON CONFLICT (experiment, kind, writer)
DO UPDATE SET lines = excluded.lines, nonce = excluded.nonce, value = excluded.value
"""
HELD = "SELECT lines, nonce, value FROM seals WHERE experiment = ? AND kind = ? AND writer = ?"


@functools.cache
def _upsert(rows: int) -> str:
    return UPSERT.format(",".join(["(?,?,?,?,?,?)"] * rows))


class Ledger:
    """The sums of what one connection writes; `writer` tells its lines from those of others."""

    def __init__(self, key: bytes, writer: str = "") -> None:
        self._key, self._writer = key, writer
        self._held: dict[Key, Sum] = {}  # as they are on record
        self._pending: dict[Key, Sum] = {}  # what this transaction adds
        self._next: dict[Key, Sum] = {}
        self._start, self._count = secrets.token_bytes(8), 0

    def add(
        self, kind: str, experiment: int, lines: Iterable[Sequence[Any]], sign: int = 1
    ) -> None:
        """Add lines, or take them out."""
        key = (experiment, kind)
        count, total = self._pending.get(key, (0, 0))
        found = [digest(self._key, key, line) for line in lines]
        self._pending[key] = (count + sign * len(found), total + sign * sum(found))

    def mark(self) -> dict[Key, Sum]:
        """Return what to go back to, should what follows be undone."""
        return dict(self._pending)

    def back(self, mark: dict[Key, Sum]) -> None:
        """Forget what was added since."""
        self._pending, self._next = mark, {}

    def flush(self, database: Database) -> None:
        """Write the sums; the last thing in a transaction, so that locks are short."""
        values: list[Any] = []
        for key, (count, total) in sorted(self._pending.items()):
            held = self._held.get(key) or self._loaded(database, key)
            found = self._next[key] = (held[0] + count, (held[1] + total) % MODULUS)
            self._count += 1
            nonce = self._start + self._count.to_bytes(8, "little")  # new, which is all it need be
            of = (*key, self._writer)
            values += (*of, *blinded(self._key, of, found, nonce))
        if values:
            database.rows(_upsert(len(self._pending)), values)
        self._pending = {}

    def committed(self) -> None:
        """Hold what is on record now."""
        self._held |= self._next
        self._next = {}

    def _loaded(self, database: Database, key: Key) -> Sum:
        for found in database.rows(HELD, (*key, self._writer)):
            return revealed(self._key, (*key, self._writer), found)
        return 0, 0


def digest(key: bytes, of: Key, line: Sequence[Any]) -> int:
    """Return the keyed digest of a line of a kind."""
    found = _keyed(key, b"fairx line").copy()  # quicker than to begin anew
    found.update(ENCODER.encode((*of, *line)))  # each value says its type and length
    return int.from_bytes(found.digest(), "little")


@functools.lru_cache(maxsize=4)
def _keyed(key: bytes, person: bytes) -> Any:
    return hashlib.blake2b(digest_size=32, key=key, person=person)


def blinded(
    key: bytes, of: tuple[int, str, str], found: Sum, nonce: bytes
) -> tuple[int, bytes, bytes]:
    """Return a sum as it is stored: how many lines, a number used once, and the sum that it hides."""
    hidden = (found[1] + _pad(key, of, found[0], nonce)) % MODULUS
    return found[0], nonce, hidden.to_bytes(32, "little")


def revealed(key: bytes, of: tuple[int, str, str], row: Sequence[Any]) -> Sum:
    """Return a sum that was stored."""
    lines, nonce, value = row
    return lines, (int.from_bytes(value, "little") - _pad(key, of, lines, nonce)) % MODULUS


def sealed(
    database: Database, kind: str, experiment: int, lines: Iterable[Sequence[Any]], sign: int = 1
) -> None:
    """Add lines that are being written to the sums, where the store has them."""
    if database.ledger is not None:
        database.ledger.add(kind, experiment, lines, sign)


class Entered:
    """A transaction, or a part of one, that the sums follow: written at its end, or forgotten.

    A ledger may be given to the database inside.
    """

    def __init__(self, database: Database, inside: bool) -> None:
        self._database, self._inside = database, inside

    def __enter__(self) -> None:
        ledger = self._database.ledger
        self._mark = ledger.mark() if ledger is not None else {}

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._undo()
        elif not self._inside and self._database.ledger is not None:
            try:
                self._database.ledger.flush(self._database)
            except BaseException:
                self._undo()
                raise

    def _undo(self) -> None:
        self._database.known_arms.clear()  # some were read inside, perhaps, and are not to be
        if self._database.ledger is not None:
            self._database.ledger.back(self._mark)


def _pad(key: bytes, of: tuple[int, str, str], lines: int, nonce: bytes) -> int:
    found = _keyed(key, b"fairx pad").copy()
    found.update(ENCODER.encode((*of, lines, nonce)))
    return int.from_bytes(found.digest(), "little")
