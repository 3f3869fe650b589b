"""Files of coba's interactions: pickles in a zip, of which data alone is read."""

from __future__ import annotations

import json
import pickle
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Self

from fairx.files import replaced

from .selecting import quoted
from .sources import literal

BATCH = 1000
BROKEN = (
    zipfile.BadZipFile, zlib.error, pickle.UnpicklingError, RuntimeError, AttributeError, TypeError,
    IndexError,
)  # fmt: skip


class Inert(dict[str, Any]):
    """What stands for an object of coba: its interactions are dictionaries, others are not read."""

    def __new__(cls, *_: Any) -> Self:
        """Take whatever it was made of."""
        return super().__new__(cls)

    def __setstate__(self, state: Any) -> None:
        self.clear()


class Unpickler(pickle.Unpickler):
    """Reads data, and nothing that could run: of classes, coba's alone, and those as `Inert`."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands for a class."""
        if module.partition(".")[0] == "coba" and "." not in name:
            return Inert
        raise pickle.UnpicklingError(f"{module}.{name}")


def table(connection: Any, files: Sequence[Path]) -> str:
    """Return the SQL of all interactions of files, each key a column of JSON."""
    import pyarrow as pa

    connection.execute("CREATE TEMP TABLE interactions (line JSON)")
    for some in batches(chain.from_iterable(map(_interactions, files))):
        given = pa.table({"line": [json.dumps(one) for one in some]})
        connection.register("given", given)
        connection.execute("INSERT INTO interactions SELECT line FROM given")
    asked = "SELECT DISTINCT unnest(json_keys(line)) FROM interactions ORDER BY ALL"
    keys = [key for (key,) in connection.execute(asked).fetchall()]
    parts = [f"line -> {literal(f'$.{json.dumps(key)}')} AS {quoted(key)}" for key in keys]
    return f"SELECT {', '.join(parts) or 'line'} FROM interactions"


def _interactions(file: Path) -> Iterator[dict[str, Any]]:
    """Go through the interactions of a file, or refuse it by its name."""
    try:
        yield from _saved(file)
    except BROKEN as error:
        rule = "be a file of coba's Environments.save, with data alone"
        raise ValueError(f"{file} must {rule}, not: {error}") from error


def _saved(file: Path) -> Iterator[dict[str, Any]]:
    """Go through the interactions of the one environment of a file."""
    with zipfile.ZipFile(file) as archive:
        members = archive.namelist()
        if len(members) != 1:
            remedy = "save one environment in each: environments[0:1].save(...)"
            raise ValueError(f"{file} must hold one environment, not {len(members)}: {remedy}")
        with archive.open(members[0]) as stream:
            there = _objects(stream)
            head, _ = next(there), next(there)
            if head.get("version") != 2:
                raise ValueError(f"{file} must be of version 2 of coba's format, not {head!r}")
            for interaction in chain.from_iterable(there):
                yield {key: _data(value) for key, value in interaction.items()}


def _data(value: Any) -> Any:
    return None if isinstance(value, Inert) else value


def _objects(stream: IO[bytes]) -> Iterator[Any]:
    while True:
        try:
            yield Unpickler(stream).load()
        except EOFError:
            return


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write interactions as `Environments.from_save` reads them."""
    with (
        replaced(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("0", "w") as member,
    ):
        for some in chain([{"version": 2}, {"env_type": "Log"}], batches(rows)):
            member.write(pickle.dumps(some, 4))


def batches(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Go through rows, some at a time."""
    there = iter(rows)
    while some := list(islice(there, BATCH)):
        yield some
