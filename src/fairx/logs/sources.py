"""Where rows come from: files of one format, or a table in memory."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fairx import rules

from . import heads

FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".dsjson": "json",
    ".zip": "table",  # of coba's interactions
}
COMPRESSED = (".gz", ".zst")
CAUSES = {  # of what DuckDB tells in many lines
    "Error when sniffing file": "text whose first lines are no table (is a quote left open?)",
    "Maximum line size": "text with a line of more than 2 MB",
}
CSV = "header = true, all_varchar = true, quote = '\"'"
ARROW = (".feather", ".arrow", ".ipc")


class Source(NamedTuple):
    """SQL that yields the rows, and what a report calls them."""

    sql: str
    name: str
    kind: str  # parquet, csv, json or table
    files: tuple[Path, ...] = ()
    dialect: str = "fairx"
    notes: tuple[str, ...] = ()  # what the dialect has that a log here has not


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
    try:
        connection = duckdb.connect(config=settings)
    except (duckdb.ParserException, duckdb.InvalidInputException) as error:
        raise rules.InvalidValue("memory", f"be like 1GB, not {memory!r}") from error
    connection.execute("SET TimeZone = 'UTC'")
    return connection


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Refuse a file that cannot be read to its end by its name, not by DuckDB's."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        remedy = "allow more by memory='4GB' or --memory 4GB, or fewer threads"
        raise MemoryError(f"{name} does not fit into DuckDB's memory: {remedy}") from error
    except (duckdb.IOException, duckdb.InvalidInputException, duckdb.ConversionException) as error:
        lines = str(error).splitlines()
        said = next((why for mark, why in CAUSES.items() if mark in str(error)), "")
        said = said or lines[0].partition("Error: ")[2]
        raise ValueError(
            f"{name} must be readable to its end, not: {said}: copy it anew, or give it the ending "
            "of its format"
        ) from error


def opened(connection: Any, log: Any) -> Source:
    """Return the rows of a file, of a folder of files, or of a table."""
    if isinstance(log, (str, os.PathLike)):
        path = Path(log)
        kind, files = _files(path)
        heads.check(kind, files)
        return Source(_reading(connection, kind, files), str(path), kind, tuple(files))
    if not (hasattr(log, "__arrow_c_stream__") or hasattr(log, "__dataframe__")):
        rule = "a path, or a table of pandas, pyarrow or polars"
        raise TypeError(f"log must be {rule}, not {type(log).__name__}")
    connection.register("given", log)
    return Source("SELECT * FROM given", "a table in memory", "table")


def _files(path: Path) -> tuple[str, list[Path]]:
    if not path.exists():
        raise FileNotFoundError(f"there is no log at {path}")
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    kinds = {file: _kind(file) for file in found if file.is_file()}
    # What programs leave beside their files: .DS_Store, _SUCCESS, .part.crc.
    kinds = {file: kind for file, kind in kinds.items() if kind or file.name[0] not in "._"}
    files = [file for file, kind in kinds.items() if kind]
    if any(file.suffix.lower() in ARROW for file in kinds):
        remedy = "read it by pyarrow.feather.read_table, and give that table"
        raise ValueError(f"{path} must be of another format than Arrow's: {remedy}")
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
    paths = ", ".join(literal(globbed(str(file))) for file in files)
    several = ", union_by_name = true" if len(files) > 1 else ""
    if kind == "table":
        from .interactions import table

        return table(connection, files)
    if kind == "parquet":
        return f"SELECT * FROM read_parquet([{paths}]{several})"
    if kind == "csv":
        # Values stay texts, since 007 is not 7; lines that are too short or long are counted.
        # They cannot be where one reading joins files by the names of their columns: each has its own.
        # A quote is said: where the first lines have none, DuckDB takes quotes for letters later on.
        each = (literal(globbed(str(file))) for file in files)
        return " UNION ALL BY NAME ".join(
            f"SELECT * FROM read_csv({one}, {CSV}, store_rejects = true)" for one in each
        )
    options = "format = 'newline_delimited', ignore_errors = true"
    described = f"DESCRIBE SELECT * FROM read_json([{paths}], {options}{several})"
    names = [row[0] for row in connection.execute(described).fetchall()]
    if names == ["json"]:  # what DuckDB calls the column of lines that are no objects
        remedy = "of an array make lines by: jq -c '.[]' IN.json > OUT.jsonl"
        raise ValueError(f"{files[0]} must have a JSON object on each line: {remedy}")
    columns = ", ".join(f"{literal(name)}: 'JSON'" for name in names)
    return f"SELECT * FROM read_json([{paths}], {options}, columns = {{{columns}}})"


def literal(text: str) -> str:
    """Return a text as SQL takes it."""
    return "'" + text.replace("'", "''") + "'"


def globbed(path: str) -> str:
    """Return a pattern that matches this path alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)
