"""Files that say something of each arm: their names, groups or ratings."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any


def lines_of(path: Path) -> list[str]:
    """Read names, one a line."""
    return [line.strip() for line in path.read_text("utf-8-sig").splitlines() if line.strip()]


def is_file(what: str) -> bool:
    """Tell a file of ratings from the name of a column."""
    return Path(what).suffix in (".csv", ".json")


def ratings_of(what: str | None) -> dict[str, float] | bool:
    """Return the ratings of a file; True where a column has them."""
    if not what or not is_file(what):
        return bool(what)
    try:
        return {arm: float(rating) for arm, rating in _pairs(Path(what), "rating").items()}
    except ValueError as error:
        raise ValueError(f"ratings must be numbers: {error}") from error


def groups_of(path: Path) -> dict[str, str]:
    """Read which group each arm is in."""
    return _pairs(path, "group")


def _pairs(path: Path, what: str) -> dict[str, str]:
    """Read something of each arm."""
    if path.suffix == ".json":
        found: Any = json.loads(path.read_text("utf-8"))
        if not isinstance(found, dict):
            raise ValueError(f"{what}s must be a mapping from arm to {what}, not {found!r}")
        return {str(arm): str(one) for arm, one in found.items()}
    with path.open(newline="", encoding="utf-8-sig") as file:
        table = [row for row in csv.reader(file) if row]
    for line, row in enumerate(table, 1):
        if len(row) != 2:
            raise ValueError(f"line {line} of {path} must be arm,{what}, not {','.join(row)!r}")
    body = table[1:] if table and [cell.lower() for cell in table[0]] == ["arm", what] else table
    return dict(row for row in body)
