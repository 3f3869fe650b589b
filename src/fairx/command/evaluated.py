"""What `fairx evaluate` prints and writes: numbers, and in words what was withheld and why."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

MOST = 20  # arms that are printed
ON_PAGE = 1000  # arms on the page


def shown(found: Any) -> list[str]:
    """Return the lines that are printed."""
    lines = [f"reward per decision  {found.reward:.6g}  ({interval_words(found)})"]
    lines += [f"withheld: {words}" for words in found.withheld]
    lines.append(f"decisions            {found.decisions}")
    lines += [
        f"{name.replace('_', ' '):<20} {value:.6g}"
        for name, value in found.diagnostics._asdict().items()
    ]
    if found.fairness is not None:
        lines += ["", *fairness_words(found)]
    lines += ["", *_table(found)]
    return [*lines, *(f"caution: {caution}" for caution in found.cautions)]


def interval_words(found: Any) -> str:
    """Return the interval in words."""
    if found.withheld:
        return "the interval is withheld"
    level = 100 * (1 - found.alpha)
    return f"{level:g} %: {found.low:.6g} to {found.high:.6g}, {found.interval}"


def fairness_words(found: Any) -> list[str]:
    """Return how fair the policy would be, in words, with what they suppose."""
    fair = found.fairness
    level = f"{100 * (1 - found.alpha):g} %, for all arms, at every look"
    regret, floor, *ends = map(
        _known, (fair.regret, fair.regret_floor, fair.regret_low, fair.regret_high)
    )
    under, over, unclear = (fair.verdicts.count(kind) for kind in ("under", "over", "unclear"))
    told = f"{under} would get less than they earn, {over} more; {unclear} unclear"
    return [
        f"fairness regret      {regret}  ({level}: {' to '.join(ends)}), from 0 to 2",
        f"of a fair policy     {floor}  on average, as the means are estimated",
        f"arms                 {told}: the log leaves it open",
        f"for the merit {fair.merit} of mean rewards that do not vary in time or with contexts",
    ]


def _known(value: float | None, digits: str = ".6g") -> str:
    """Return a number in words; where no arm has merit, nobody has a share."""
    return "unknown" if value is None or math.isnan(value) else f"{value:{digits}}"


def _table(found: Any) -> list[str]:
    order = np.argsort(-found.exposures, kind="stable")[:MOST]
    rows = None if found.fairness is None else found.fairness.rows()
    lines = [
        "arm                  exposure" + ("  fair share (interval)        verdict" if rows else "")
    ]
    for arm in order:
        line = f"{found.names[arm]!s:<20} {found.exposures[arm]:.6f}"
        if rows is not None:
            row = rows[arm]
            share, *ends = (_known(row[f"fair_{name}"], ".4f") for name in ("share", "low", "high"))
            share = f"{share} ({' to '.join(ends)})"
            line += f"  {share:<28} {row['verdict']}"
        lines.append(line)
    if len(found.names) > MOST:
        lines.append(f"... and {len(found.names) - MOST} more: --out has all")
    return lines


def written(found: Any, folder: Path, log: str, policy: str) -> list[Path]:
    """Write the numbers and the page; return their paths."""
    from fairx.files import replaced
    from fairx.pages import template

    folder.mkdir(parents=True, exist_ok=True)
    plain = found.to_dict() | {"policy": policy}
    arms = sorted(plain["arms"], key=lambda row: -row["exposure"])
    fair = [] if found.fairness is None else fairness_words(found)
    page = template(__package__).render(
        found=plain, arms=arms[:ON_PAGE], log=log, interval=interval_words(found), fair=fair
    )
    paths = [folder / "evaluation.json", folder / "index.html"]
    texts = [json.dumps(plain, indent=2, allow_nan=False), page]
    for path, text in zip(paths, texts, strict=True):
        with replaced(path) as file:
            file.write(text.encode())
    return paths
