"""One page that asks the network for nothing; a script of its own sorts the tables."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib.figure import Figure

from fairx.pages import resource, template
from fairx.pictures import inlined

from . import beside_figures, figures
from .card import card
from .comparing import Change, write_changes
from .result import Audit
from .tables import contents, guarantee, rows, write_csv, write_json
from .words import lead

MOST = 1000  # arms on the page; all are in the files
CAPTIONS = {
    "beside": "How often each arm was shown beside the others, over how often its rewards earn: the dot is the "
    "estimate, the bar its range, the colour the verdict. Left of the line it got too little. Of more than 50 "
    "arms, those with the strongest evidence.",
    "courses": "The same over time, of the arms with the strongest evidence. The ranges of all "
    "times hold together.",
    "exposure": "Exposure (dots) beside the fair share. Of more than 50 arms there is a dot "
    "for each, and the dashed line is fair.",
    "over_time": "Sum over arms of the distance between the probabilities and the fair ones, on "
    "average in each stretch of time. Fair shares are those of the whole log.",
    "lorenz": "What the least shown arms have together. Inequality alone is not unfairness: the "
    "exposure is to be compared with the fair share, not with the diagonal.",
    "sensitivity": "Merit is a choice. Power 1 is the merit of this audit, 0 makes all arms equal, "
    "larger ones reward the best more.",
}


def write_audit(
    audit: Audit,
    directory: str | Path,
    about: Mapping[str, str],
    changes: tuple[Change, ...] = (),
) -> Path:
    """Write index.html, audit.json, audit.csv and the figures; return the path of the page.

    With `changes` since another log, also changes.csv.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(audit, folder / "audit.json")
    write_csv(audit, folder / "audit.csv")
    if changes:
        write_changes(changes, folder / "changes.csv")
    chosen = sorted(rows(audit), key=lambda row: -abs(row["difference"]))
    script = resource(__package__, "sort.js")
    page = template(__package__).render(
        audit=audit,
        about=card(audit) | dict(about),
        lead=lead(audit),
        changes=sorted(changes, key=lambda one: -abs(one.change - 1))[:MOST],
        floor=guarantee(audit),
        rows=chosen[:MOST],
        whole=contents(audit),
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        drawn=_drawn(audit, folder),
        counts={
            kind: sum(line.verdict == kind for line in audit.lines) for kind in figures.COLOURS
        },
    )
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _drawn(audit: Audit, folder: Path) -> dict[str, dict[str, Any]]:
    """Save the figures; return those that there are data for."""
    made: dict[str, Figure] = {}
    if audit.beside:
        made["beside"] = beside_figures.beside_figure(audit)
    if audit.courses and len(audit.courses[0].decisions) > 1:
        made["courses"] = beside_figures.course_figure(audit)
    made["exposure"] = figures.exposure_figure(audit)
    if audit.over_time:
        made["over_time"] = figures.time_figure(audit)
    made["lorenz"] = figures.lorenz_figure(audit)
    made["sensitivity"] = figures.sensitivity_figure(audit)
    found = {}
    for name, figure in made.items():
        svg = Markup(inlined(figure, folder / name))
        found[name] = {"svg": svg, "caption": CAPTIONS[name]}
    return found
