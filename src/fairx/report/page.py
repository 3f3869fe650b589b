"""One page with everything, which asks the network for nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairx.experiments.outcome import Outcome
from fairx.pages import number, template
from fairx.plots import draw
from fairx.plots.figure import inlined, merit_title

from .claims import STATEMENTS, Claim, claims
from .tables import rows, setting_words, write_tables

PAPER = {name for statement in STATEMENTS for name in statement.needs}  # what claims are about
CAPTIONS = {
    "regret": "Mean over the runs, bands of one standard deviation. Linear axes fit the fair "
    "policies; where a conventional one leaves them, its last mean is given above. Grey dashes: the "
    "growth that the theory promises.",
    "exposure": "Average exposure of each arm in one run, the first, at each horizon, beside the "
    "optimal fair exposure.",
}


def write_report(
    outcomes: Mapping[str, Outcome], directory: str | Path, about: Mapping[str, str]
) -> Path:
    """Write figures, tables.csv and index.html to `directory`; return the path of the page.

    Parameters
    ----------
    outcomes
        By name, which is that of the files: the paper's are fig1, fig2, ...
    about
        What the head of the page says of these runs: date, machine, command.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for name in outcomes:
        _check_name(name)
    write_tables(outcomes, folder / "tables.csv")
    sections = [_section(name, outcome, folder) for name, outcome in outcomes.items()]
    found = [] if PAPER.isdisjoint(outcomes) else claims(outcomes)
    page = template(__package__, finding=finding).render(
        about=about,
        claims=found,
        verdicts=Counter(claim.verdict for claim in found),
        scales=sorted({outcome.experiment.scale for outcome in outcomes.values()} - {"paper"}),
        sections=sections,
    )
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _check_name(name: str) -> None:
    if not name or Path(name).name != name or "\\" in name:
        raise ValueError(f"name must be a plain file name, not {name!r}: figures are saved by it")


def _section(name: str, outcome: Outcome, folder: Path) -> dict[str, Any]:
    """Return what the template says of one outcome."""
    experiment = outcome.experiment
    played = {(type(panel.merit), panel.merit) for panel in outcome.panels}
    found = rows(outcome)
    return {
        "name": name,
        "experiment": experiment,
        "svg": inlined(draw(outcome), folder / name) if outcome.panels else "",
        "caption": CAPTIONS[experiment.figure],
        "rows": found,
        "edges": any(row.at_edge for row in found),
        "searches": _searches(outcome),
        "missing": [merit_title(m) for m in experiment.merits if (type(m), m) not in played],
    }


def _searches(outcome: Outcome) -> list[dict[str, Any]]:
    return [
        {
            "merit": merit_title(panel.merit),
            "policy": curve.label,
            "tried": [
                (setting_words(t.settings), t, t.settings == curve.settings) for t in curve.tried
            ],
        }
        for panel in outcome.panels
        for curve in panel.curves
        if curve.tried
    ]


def finding(claim: Claim) -> str:
    """Return the value of a claim with its interval, where it has one."""
    value = claim.value if isinstance(claim.value, str) else number(claim.value)
    known = math.isfinite(claim.low) and math.isfinite(claim.high)
    return f"{value} [{number(claim.low)} to {number(claim.high)}]" if known else value
