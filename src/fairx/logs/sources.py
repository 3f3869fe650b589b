"""Where rows come from: files of one format, or a table in memory."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
COMPRESSED = (".gz", ".zst")


class Source(NamedTuple):
    """SQL that yields the rows, and what a report calls them."""

    sql: str
    name: str
    kind: str  # parquet, csv, json or table


def connect(memory: str, threads: int | None) -> Any:
    """Return a DuckDB of its own, which fetches nothing and spills what does not fit."""
    try:
        import duckdb
    except ImportError as error:
        raise ImportError("logs need duckdb: pip install 'fairx[logs]'") from error
    settings: dict[str, Any] = {
        "memory_limit": memory,
        "temp_directory": str(Path(tempfile.gettempdir()) / f"fairx-{uuid.uuid4().hex}"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if threads is not None:
        settings["threads"] = threads
    connection = duckdb.connect(config=settings)
    connection.execute("SET TimeZone = 'UTC'")
    return connection


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Refuse a file that cannot be read to its end by its name, not by DuckDB's."""
    import duckdb

    try:
        yield
    except duckdb.IOException as error:
        said = str(error).splitlines()[0].removeprefix("IO Error: ")
        raise ValueError(
            f"{name} must be readable to its end, not: {said}: copy it anew"
        ) from error


def opened(connection: Any, log: Any) -> Source:
    """Return the rows of a file, of a folder of files, or of a table."""
    if isinstance(log, (str, os.PathLike)):
        path = Path(log)
        kind, files = _files(path)
        return Source(_reading(connection, kind, files), str(path), kind)
    connection.register("given", log)
    return Source("SELECT * FROM given", "a table in memory", "table")


def _files(path: Path) -> tuple[str, list[Path]]:
    if not path.exists():
        raise FileNotFoundError(f"there is no log at {path}")
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    kinds = {file: _kind(file) for file in found if file.is_file()}
    files = [file for file, kind in kinds.items() if kind]
    if not files:
        names = ", ".join(FORMATS)
        raise ValueError(f"{path} must be or hold files that end in {names}, perhaps with .gz")
    if len({kinds[file] for file in files}) > 1:
        listed = ", ".join(file.name for file in files[:5])
        raise ValueError(f"the files of {path} must be of one format, not {listed}")
    if len(files) < len(kinds):
        other = next(file for file in kinds if file not in files)
        raise ValueError(f"{path} holds {other.name}, which is not a part of the log: move it away")
    return kinds[files[0]], files


def _kind(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return FORMATS.get(suffixes[-1], "") if suffixes else ""


def _reading(connection: Any, kind: str, files: list[Path]) -> str:
    paths = ", ".join(_literal(_globbed(str(file))) for file in files)
    several = ", union_by_name = true" if len(files) > 1 else ""
    if kind == "parquet":
        return f"SELECT * FROM read_parquet([{paths}]{several})"
    if kind == "csv":
        # Values stay texts, since 007 is not 7; lines that are too short or long are counted.
        # They cannot be where one reading joins files by the names of their columns: each has its own.
        options = "header = true, all_varchar = true, store_rejects = true"
        each = (_literal(_globbed(str(file))) for file in files)
        return " UNION ALL BY NAME ".join(
            f"SELECT * FROM read_csv({one}, {options})" for one in each
        )
    options = "format = 'newline_delimited', ignore_errors = true"
    described = f"DESCRIBE SELECT * FROM read_json([{paths}], {options}{several})"
    names = [row[0] for row in connection.execute(described).fetchall()]
    columns = ", ".join(f"{_literal(name)}: 'JSON'" for name in names)
    return f"SELECT * FROM read_json([{paths}], {options}, columns = {{{columns}}})"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _globbed(path: str) -> str:
    """Return a pattern that matches this path alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)
