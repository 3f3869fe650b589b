"""Stores by their address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .database import Database

SQLITE = "sqlite:///"
EXTRA = "the service needs {}: pip install 'fairx[serve]'"


class Store(NamedTuple):
    """Where a store is, and how to open connections to it."""

    address: str
    writer: Callable[[], Database]
    reader: Callable[[], Database]
    path: Path | None  # of the file, where it is one


def located(address: str) -> Store:
    """Return the store that an address names, without opening it.

    Examples
    --------
    >>> located("sqlite:///var/shop.db").path.as_posix()
    'var/shop.db'
    >>> located("mysql://localhost")
    Traceback (most recent call last):
    ValueError: store must be sqlite:///PATH or postgresql://..., not 'mysql://localhost'
    """
    if address.startswith(SQLITE) and len(address) > len(SQLITE):
        path = Path(address.removeprefix(SQLITE))
        return Store(address, lambda: _sqlite(path, True), lambda: _sqlite(path, False), path)
    if address.startswith(("postgresql://", "postgres://")):
        return Store(
            address, lambda: _postgres(address, True), lambda: _postgres(address, False), None
        )
    raise ValueError(f"store must be sqlite:///PATH or postgresql://..., not {address!r}")


def check_whole(store: Store) -> None:
    """Refuse to take a file by one of several names for all of its store."""
    if store.path is not None:
        from .sqlite import check_one_name

        check_one_name(store.path)


def _sqlite(path: Path, write: bool) -> Database:
    try:
        from .sqlite import SQLite

        return SQLite(path, write=write)
    except ModuleNotFoundError as error:
        raise ImportError(EXTRA.format("apsw")) from error


def _postgres(address: str, write: bool) -> Database:
    try:
        from .postgres import PostgreSQL

        return PostgreSQL(address, write=write)
    except ModuleNotFoundError as error:
        raise ImportError(EXTRA.format("psycopg")) from error
