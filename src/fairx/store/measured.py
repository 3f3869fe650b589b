"""What is measured of a store: how long decisions wait to be folded, and how large it is."""

from __future__ import annotations

from pathlib import Path

from .database import Database

WAITING = "SELECT min(due) FROM waiting WHERE experiment = ?"
SIZE = "SELECT pg_database_size(current_database())"
BESIDE = ("", "-wal", "-shm")  # what belongs to a file of SQLite


def oldest_due(database: Database, experiment: int) -> float | None:
    """Return when the oldest decision that waits was due, or None where none waits."""
    ((due,),) = database.rows(WAITING, (experiment,))
    found: float | None = due
    return found


def stored_bytes(database: Database, path: Path | None) -> int:
    """Return how large a store is: its file with those beside it, or its database where it has none."""
    if path is None:
        ((size,),) = database.rows(SIZE)
        return int(size)
    files = (Path(f"{path}{each}") for each in BESIDE)
    return sum(file.stat().st_size for file in files if file.exists())
