"""A day as Parquet, kept beside the compiled code: a log is parsed once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise ImportError("logs need Parquet: pip install 'fairx[logs]'") from error

from fairx.compiled import cache_directory
from fairx.files import replaced

from .today import WIDTH, About, TodayLog

FORMAT = "fairx yahoo, version 1"
HEAD = 65_536
COLUMNS = ("times", "pool", "displayed", "clicks")
# All that reading a torn or foreign file has been seen to raise.
BROKEN = (pa.ArrowException, OSError, ValueError, KeyError, TypeError)


def path_for(source: Path) -> Path:
    """Return where the columns of `source` are kept: another file, or a changed one, elsewhere."""
    about = source.stat()
    with source.open("rb") as file:
        head = file.read(HEAD)
    digest = hashlib.sha256(head)
    digest.update(f"{FORMAT} {about.st_size} {about.st_mtime_ns}".encode())
    name = f"{source.name.removesuffix('.gz')}-{digest.hexdigest()[:16]}.parquet"
    return cache_directory().parent / "yahoo" / name


def kept(path: Path) -> TodayLog | None:
    """Return the log that was kept at `path`; nothing if there is none, or it is torn or foreign."""
    try:
        table = pq.read_table(path)
        about = _metadata(table.schema)
        about.pop("synthetic")
        columns = {name: table[name].to_numpy() for name in COLUMNS}
        users = table["users"].combine_chunks().flatten().to_numpy().reshape(-1, WIDTH)
        about["pools"] = tuple(map(tuple, about["pools"]))
        about["articles"] = tuple(about["articles"])
        features = np.array(about.pop("features"))
        return TodayLog(**columns, users=users, features=features, **about)
    except BROKEN:
        return None


def kept_about(path: Path) -> About | None:
    """Return what a report says of a log that was kept, without its events."""
    try:
        about = _metadata(pq.read_schema(path))
        return About(about["checksum"], about["counts"], about["synthetic"], about["source"])
    except BROKEN:
        return None


def _metadata(schema: Any) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(schema.metadata[b"fairx"])
    if about.pop("format") != FORMAT:
        raise ValueError("of another version")
    return about


def keep(log: TodayLog, path: Path) -> None:
    """Write a log to `path`, whole or not at all."""
    columns: dict[str, Any] = {name: pa.array(getattr(log, name)) for name in COLUMNS}
    columns["users"] = pa.FixedSizeListArray.from_arrays(pa.array(log.users.ravel()), WIDTH)
    about = {
        "format": FORMAT, "pools": log.pools, "articles": log.articles, "source": log.source,
        "features": log.features.tolist(), "counts": log.counts, "checksum": log.checksum,
        "synthetic": log.about.synthetic,
    }  # fmt: skip
    table = pa.table(columns).replace_schema_metadata({"fairx": json.dumps(about)})
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as file:
        pq.write_table(table, file, compression="zstd")
