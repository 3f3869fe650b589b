"""The seals of a store: made for one that has none yet, and checked against its lines."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .database import Database
from .decisions import SEALED
from .identity import check_secret
from .opening import Store
from .sealing import ALL, MODULUS, Ledger, Sum, digest, revealed

CHUNK = 2000
MARK = "INSERT INTO meta VALUES ('sealed', '1') ON CONFLICT (name) DO NOTHING RETURNING name"
SEALS = "SELECT 1 FROM seals LIMIT 1"
IS_SEALED = "SELECT 1 FROM meta WHERE name = 'sealed'"


class Kind(NamedTuple):
    """A kind of lines: the columns that are sealed, and those that tell lines apart."""

    columns: str
    order: str
    of_all: bool = False  # whether they are of no experiment


KINDS = {
    "decisions": Kind(SEALED, "sequence"),
    "rewards": Kind("decision, id, experiment, value, final, late, time", "decision, id"),
    "shown": Kind("decision, experiment, late, time", "decision"),
    "matured": Kind("experiment, number, sequence, reward, rewards, time", "number"),
    "snapshots": Kind("experiment, version, watermark, digest, time", "version"),
    "arms": Kind("experiment, version, place, name, status", "version, place"),
    "experiments": Kind("id, name, settings, status, created", "id", of_all=True),
    "actions": Kind("time, actor, action, experiment, detail", "id", of_all=True),
    "archives": Kind(
        "experiment, kind, upto, version, file, digest, lines, nonce, value, time", "kind, upto"
    ),
}


def keyed(store: Store, secret: bytes) -> Database:
    """Open a connection that writes and seals; a store that has no seals yet gets them.

    On SQLite it is the only one, and goes on with the sums that are there.
    """
    writer = "" if store.path is not None else secrets.token_hex(8)
    database = store.writer()
    try:
        with database.transaction():
            check_secret(database, secret)
            database.ledger = Ledger(seal_key(secret), writer)
            if database.rows(MARK):
                _check_none(database)
                for kind, experiment in _all(database):
                    database.ledger.add(kind, experiment, lines(database, kind, experiment))
    except BaseException:
        database.close()
        raise
    return database


def _check_none(database: Database) -> None:
    """Refuse to seal what is there anew where it was sealed before: what was removed would never be missed."""
    if database.rows(SEALS):
        raise ValueError(
            "the store must have the mark that it is sealed, for it has seals: somebody took it away; run "
            "fairx verify, or restore a backup"
        )


def seal_key(secret: bytes) -> bytes:
    """Return the key of seals, which is another than that of decision ids."""
    return hashlib.blake2b(b"seals", digest_size=32, key=secret).digest()


def is_sealed(database: Database) -> bool:
    """Tell whether a store has seals."""
    return bool(database.rows(IS_SEALED))


def broken_seals(
    database: Database, secret: bytes, archived: Mapping[tuple[int, str], Sum]
) -> list[str]:
    """Return what is gone, was added or changed since it was sealed, in words.

    Seals are over the lines in the store and those that are archived, whose sums are given.
    """
    key, stored = seal_key(secret), _stored(database, seal_key(secret))
    names: dict[int, str] = dict(database.rows("SELECT id, name FROM experiments"))
    problems = []
    for kind, experiment in sorted({*_all(database), *((k, e) for e, k in stored)}):
        count, total = archived.get((experiment, kind), (0, 0))
        for line in lines(database, kind, experiment):
            count, total = count + 1, (total + digest(key, (experiment, kind), line)) % MODULUS
        wanted = stored.get((experiment, kind), (0, 0))
        if (count, total) != wanted:
            where = names.get(experiment, f"experiment {experiment}") if experiment else "the store"
            problems.append(f"{where}: {_said(kind, count, wanted[0])}")
    return problems


def lines(database: Database, kind: str, experiment: int) -> Iterator[tuple[Any, ...]]:
    """Yield the lines of a kind as they are on record, a chunk at a time."""
    columns, order, of_all = KINDS[kind]
    count = order.count(",") + 1
    marks = f"({', '.join('?' * count)})"
    where = "1 = 1" if of_all else f"experiment = {experiment:d}"
    sql = f"SELECT {order}, {columns} FROM {kind} WHERE {where}{{}} ORDER BY {order} LIMIT {CHUNK}"
    found = database.rows(sql.format(""))
    while found:
        yield from (row[count:] for row in found)
        found = database.rows(sql.format(f" AND ({order}) > {marks}"), found[-1][:count])


def _all(database: Database) -> list[tuple[str, int]]:
    """Return the kinds of lines of each experiment, and those of none."""
    numbers = [number for (number,) in database.rows("SELECT id FROM experiments ORDER BY id")]
    found = [(kind, ALL) for kind, about in KINDS.items() if about.of_all]
    return found + [(k, n) for n in numbers for k, about in KINDS.items() if not about.of_all]


def _stored(database: Database, key: bytes) -> dict[tuple[int, str], tuple[int, int]]:
    """Return the sums on record, those of all writers together."""
    found: dict[tuple[int, str], tuple[int, int]] = {}
    sql = "SELECT experiment, kind, writer, lines, nonce, value FROM seals"
    for experiment, kind, writer, *row in database.rows(sql):
        count, total = revealed(key, (experiment, kind, writer), row)
        before = found.get((experiment, kind), (0, 0))
        found[experiment, kind] = (before[0] + count, (before[1] + total) % MODULUS)
    return found


def _said(kind: str, count: int, wanted: int) -> str:
    if count < wanted:
        return (
            f"{wanted - count} of {wanted} lines of {kind} are gone, or more and others were added"
        )
    if count > wanted:
        return f"{count - wanted} lines of {kind} were added that fairx did not write"
    return f"lines of {kind} were changed since they were written"
