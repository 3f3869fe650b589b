"""What the store knows of what was archived: the files, whose decisions they have, and where they are."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..database import Database, rows_among
from ..errors import Conflict
from ..sealing import Sum, blinded, revealed

FOLDER, STORE = "archive", "archive of"  # in `meta`: where the files are, and whose they are
SAID = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
KNOWN = "SELECT value FROM meta WHERE name = ?"
HELD = "SELECT value FROM meta WHERE name = 'secret'"  # a row that every such store has
PARTS = (
    "SELECT experiment, kind, upto, version, file, digest, lines, nonce, value, time FROM archives"
)


class Part(NamedTuple):
    """One file: the lines of a kind, of an experiment, up to the matured decision of a number."""

    experiment: int
    kind: str
    upto: int  # of actions, the last id
    version: int  # the first snapshot that stays in the store
    file: str
    digest: str  # of its bytes
    lines: int
    nonce: bytes  # with `value`, the keyed sum of its lines, blinded as seals are
    value: bytes
    time: float


class Cut(NamedTuple):
    """Up to where decisions of an experiment are archived, and which snapshots stay."""

    upto: int = 0
    version: int = 1


def with_sum(part: Part, key: bytes, found: Sum) -> Part:
    """Return a part with the keyed sum of its lines."""
    lines, nonce, value = blinded(key, _of(part), found, secrets.token_bytes(16))
    return part._replace(lines=lines, nonce=nonce, value=value)


def sum_of(part: Part, key: bytes) -> Sum:
    """Return the sum of the lines of a part, as the store keeps it."""
    return revealed(key, _of(part), (part.lines, part.nonce, part.value))


def _of(part: Part) -> tuple[int, str, str]:
    return part.experiment, part.kind, f"archive {part.upto}"


def parts(database: Database, experiment: int | None = None) -> list[Part]:
    """Return the files, the oldest first."""
    one = "" if experiment is None else f" WHERE experiment = {experiment:d}"
    rows = database.rows(f"{PARTS}{one} ORDER BY experiment, upto, kind")
    return [Part(*row) for row in rows]


def last_cut(database: Database, experiment: int) -> Cut:
    """Return up to where an experiment is archived."""
    sql = "SELECT upto, version FROM archives WHERE experiment = ? ORDER BY upto DESC LIMIT 1"
    for found in database.rows(sql, (experiment,)):
        return Cut(*found)
    return Cut()


def archived_among(database: Database, ids: Sequence[str]) -> set[str]:
    """Return which of these decisions are archived; of slates, by their own ids."""
    if not ids or not database.has_archive():
        return set()
    sql = "SELECT id FROM archived WHERE id IN ({})"
    return {found for (found,) in rows_among(database, sql, ids)}


def archived_key() -> Conflict:
    """Return the refusal of a key whose decision is archived."""
    return Conflict(
        "key must be new for another decision: what it was used for is archived, and neither made again "
        "nor answered",
        "key",
    )


def folder_of(database: Database, given: Path | None) -> Path:
    """Return where the files are: as given, or as the last one who archived said."""
    if given is not None:
        return given
    for (found,) in database.rows(KNOWN, (FOLDER,)):
        return Path(found)
    raise Conflict("nothing is known of where the archive is: say it, --archive FOLDER")


def say_folder(database: Database, folder: Path) -> None:
    """Have the store say where its files are, and that they are its own."""
    database.rows(SAID, (FOLDER, str(folder.resolve())))
    database.rows(SAID, (STORE, database.identity()))


def others_folder(database: Database) -> str | None:
    """Say whose the files are, where the store that says where they are is a copy, or was moved.

    The first store may be in use, and names the same files: a copy must not take them away from it.
    """
    for (found,) in database.rows(KNOWN, (STORE,)):
        if found != database.identity():
            return f"the archive {folder_of(database, None)} is that of {found}"
    return None


def hold_names(database: Database) -> None:
    """Keep others from naming files, and from moving those aside that have no name yet.

    Until the transaction ends: a file that is there now is there when it is named.
    """
    database.rows(HELD + database.lock)
