"""Files that hold a record of settings and some arrays: written whole or not at all, no pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairx.errors import BrokenFile
from fairx.files import UNREADABLE, replaced

Arrays = Mapping[str, npt.NDArray[Any]]
MAGIC = "fairx bandit"
VERSION = 1


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> None:
    """Replace `path` by the new contents in one step, safe against a crash at any moment."""
    text = json.dumps({"format": MAGIC, "version": VERSION, **header})
    parts: dict[str, Any] = {"header": np.frombuffer(text.encode(), np.uint8), **arrays}
    with replaced(path) as file:
        np.savez(file, **parts)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return what `write` wrote, or say why it cannot."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes())
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        raise BrokenFile(f"{path} is not a saved bandit, or is truncated ({error})") from error
    if not isinstance(header, dict) or header.get("format") != MAGIC:
        raise BrokenFile(f"{path} is not a saved bandit")
    if header.get("version") != VERSION:
        found = header.get("version")
        raise BrokenFile(f"{path} has version {found!r}, but this fairx reads version {VERSION}")
    return header, arrays
