"""The folder that results go to: it belongs to one experiment, and to one process at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .rows import Rows
from .specification import Experiment

FORMAT = "fairx results, version 1"


@contextmanager
def opened(directory: Path, owner: str, experiments: Sequence[Experiment]) -> Iterator[Rows]:
    """Yield the rows of a folder, new or left by an earlier run of the same experiments."""
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory):
        _claim(directory, owner, {each.name: each.digest() for each in experiments})
        rows = Rows(directory / "rows")
        yield rows


def _claim(directory: Path, owner: str, digests: dict[str, str]) -> None:
    """Refuse a folder of something else; note what this one is of."""
    path = directory / "results.json"
    known: dict[str, str] = {}
    if path.exists():
        content = _content(path)
        known = content["experiments"]
        if content["owner"] != owner:
            raise ValueError(
                f"{directory} holds the results of {content['owner']!r}, not of {owner!r}: "
                "choose another --out"
            )
    elif any(entry.name != ".lock" for entry in directory.iterdir()):
        raise ValueError(f"{directory} is not empty and holds no results: choose another --out")
    for name, digest in digests.items():
        if known.get(name, digest) != digest:
            raise ValueError(
                f"{directory} holds the results of another {name}: {_difference(known[name], digest)}; "
                "choose another --out"
            )
    text = json.dumps({"format": FORMAT, "owner": owner, "experiments": {**known, **digests}})
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
        if content["format"] == FORMAT:
            return content  # type: ignore[no-any-return]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is damaged ({error}): delete it and run again, the rows stay"
        ) from error
    raise ValueError(f"{path} has the format {content['format']!r}, not {FORMAT!r}")


def _difference(known: str, digest: str) -> str:
    """Name the first thing in which two experiments differ."""
    old, new = json.loads(known), json.loads(digest)
    key = next((key for key in new if old.get(key) != new[key]), "settings")
    return f"its {key} are {str(old.get(key))[:60]}, not {str(new.get(key))[:60]}"


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold the folder; the system lets go of it when the process ends, however it ends."""
    try:
        import fcntl
    except ImportError:  # Windows: two processes would only do some work twice
        yield
        return
    with (directory / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"{directory} is in use by another process: wait for it, or choose another --out"
            ) from None
        file.write(str(os.getpid()))
        file.flush()
        yield
