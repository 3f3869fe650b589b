"""The folder that results go to: it belongs to one experiment, and to one process at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairx.files import UNFINISHED, hold, replaced

from .rows import Rows
from .specification import Experiment

FORMAT = "fairx results, version 1"


@contextmanager
def opened(directory: str | Path, owner: str, experiments: Sequence[Experiment]) -> Iterator[Rows]:
    """Yield the rows of a folder, new or left by an earlier run of the same experiments."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory):
        _claim(directory, owner, {each.name: each.identity() for each in experiments})
        yield Rows(directory / "rows")


def _claim(directory: Path, owner: str, identities: dict[str, Any]) -> None:
    """Refuse a folder of something else; note what this one is of."""
    path = directory / "results.json"
    known: dict[str, Any] = {}
    if path.exists():
        content = _content(path)
        known = content["experiments"]
        if content["owner"] != owner:
            raise ValueError(
                f"{directory} holds the results of {content['owner']!r}, not of {owner!r}: "
                "choose another --out"
            )
    elif _strange(directory):
        raise ValueError(f"{directory} is not empty and holds no results: choose another --out")
    for name, identity in identities.items():
        for key, value in known.get(name, identity).items():
            if value != identity[key]:
                raise ValueError(
                    f"{directory} holds the results of another {name}, whose {key} is {value!r}, "
                    f"not {identity[key]!r}: choose another --out"
                )
    with replaced(path) as file:
        note = {"format": FORMAT, "owner": owner, "experiments": {**known, **identities}}
        file.write(json.dumps(note, indent=1).encode())


def _strange(directory: Path) -> bool:
    """Tell whether a folder holds something, and not the rows of a note that was lost."""
    ours = (".lock", UNFINISHED)
    return not any((directory / "rows").glob("*.parquet")) and any(
        not entry.name.startswith(ours) for entry in directory.iterdir()
    )


def _content(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        content["experiments"] = {name: dict(one) for name, one in content["experiments"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is damaged ({error}): delete it and run again, the rows stay"
        ) from error
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} has the format {content.get('format')!r}, not {FORMAT!r}")
    return content


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Hold the folder; the system lets go of it when the process ends, however it ends."""
    with (directory / ".lock").open("w") as file:
        try:
            hold(file)
        except BlockingIOError:
            raise ValueError(
                f"{directory} is in use by another process: wait for it, or choose another --out"
            ) from None
        file.write(str(os.getpid()))
        file.flush()
        yield
