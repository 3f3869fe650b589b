"""An audit as JSON, as comma-separated values, and as text."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairx.texts import shortened

from .lines import POWERS
from .result import Audit
from .shares import lorenz

VERSION = 1
POINTS = 101  # of the Lorenz curves
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet takes these for formulas


def rows(audit: Audit) -> list[dict[str, Any]]:
    """Return everything about each arm, one mapping each."""
    found = [
        line._asdict() | arm._asdict() for line, arm in zip(audit.lines, audit.arms, strict=True)
    ]
    besides = [one._asdict() for one in audit.beside] or [{}] * len(found)
    return [row | beside for row, beside in zip(found, besides, strict=True)]


def contents(audit: Audit) -> dict[str, Any]:
    """Return what audit.json holds: numbers that are not finite become null."""
    whole = audit._asdict() | {
        "version": VERSION,
        "arms": rows(audit),
        "groups": _groups(audit),
        "courses": [course._asdict() for course in audit.courses],
        "over_time": [moment._asdict() for moment in audit.over_time],
        "sample_ratio": audit.sample_ratio._asdict(),
        "sensitivity": [one._asdict() for one in audit.sensitivity],
        "powers": POWERS,
        "lorenz": curves(audit),
        "columns": dict(audit.columns),
    }
    for name in ("lines", "beside", "groups_beside"):
        del whole[name]
    found: dict[str, Any] = _finite(whole)
    return found


def _groups(audit: Audit) -> list[dict[str, Any]]:
    besides = [one._asdict() for one in audit.groups_beside] or [{}] * len(audit.groups)
    pairs = zip(audit.groups, besides, strict=True)
    return [{"group": line.arm} | line._asdict() | beside for line, beside in pairs]


def curves(audit: Audit) -> dict[str, list[float]]:
    """Return the Lorenz curves of exposure and of fair share, at as many points as the eye needs."""
    grid = np.linspace(0.0, 1.0, min(len(audit.lines) + 1, POINTS))
    found = {"arms": grid.tolist()}
    for name in ("exposure", "fair_share"):
        curve = lorenz([getattr(line, name) for line in audit.lines])
        found[name] = np.interp(grid, np.linspace(0.0, 1.0, curve.size), curve).tolist()
    return found


def write_json(audit: Audit, path: Path) -> None:
    """Write audit.json."""
    text = json.dumps(contents(audit), indent=1, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def write_csv(audit: Audit, path: Path) -> None:
    """Write one line per arm, with names that a spreadsheet takes for formulas quoted."""
    found = rows(audit)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(found[0])
        table.writerows([_cell(value) for value in row.values()] for row in found)


def guarantee(audit: Audit) -> str:
    """Return what a floor gives each arm, in words; nothing where there is none."""
    words = "each arm on offer is due {:g} of every decision, and merit shares out the rest"
    return words.format(audit.floor) if audit.floor else ""


def text(audit: Audit, most: int = 20) -> str:
    """Return the table that the command prints: the arms farthest from their fair share."""
    head = ("arm", "shows", "exposure", "fair share", "always-valid", "ratio", "beside", "verdict")
    known = zip(audit.lines, audit.beside or [None] * len(audit.lines), strict=True)
    chosen = sorted(known, key=lambda pair: -abs(pair[0].difference))[:most]
    cells = [
        (
            shortened(str(line.arm), 40),
            f"{line.shows:,}",
            f"{line.exposure:.4f}",
            f"{line.fair_share:.4f}",
            f"{line.fair_low:.4f} to {line.fair_high:.4f}",
            f"{line.ratio:.2f}",
            "-" if one is None or one.beside is None else f"{one.beside:.2f}",
            line.verdict,
        )
        for line, one in chosen
    ]
    left = len(audit.lines) - len(chosen)
    more = f"\n... and {left:,} more" if left else ""
    floor = f"\nfloor: {words}" if (words := guarantee(audit)) else ""
    return _aligned([head, *cells]) + more + floor


def _aligned(table: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = (
        "  ".join(
            cell.ljust(width) if i in (0, 7) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: Any) -> Any:
    if isinstance(value, tuple):
        return " ".join(value)
    return f"'{value}" if isinstance(value, str) and value.startswith(DANGEROUS) else value


def _finite(value: Any) -> Any:
    """Return plain lists and mappings, in which what is infinite or unknown is null."""
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
