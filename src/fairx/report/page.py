"""One page with everything, which asks the network for nothing."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fairx import plots
from fairx.experiments.outcome import Outcome
from fairx.pages import number, template
from fairx.pictures import FORMATS, inlined, save
from fairx.plots.figure import merit_title
from fairx.simulation import bands

from .claims import LOOKS, NOT_RUN, STATEMENTS, VERDICTS, Claim, claims
from .comparisons import comparisons, interval
from .giving_up import prices, words, write_notions
from .latex import write_latex
from .notions import ends, notion_tables
from .tables import Row, rows, setting_words, write_tables

PAPER = {name for statement in STATEMENTS for name in statement.figures}  # what claims are about
CAPTIONS = {
    "regret": "Mean over the runs ± {band}. Linear axes fit the fair "
    "policies; where a conventional one leaves them, its last mean is given above. Grey dashes: the "
    "growth that the theory promises.",
    "exposure": "Average exposure of each arm in one run, the first, at each horizon, beside the "
    "optimal fair exposure.",
    "sweep": "Mean over the runs ± {band}, by the value of a setting; a policy without one is a level line. Starved arms "
    "were shown less than a tenth of their fair share.",
    "frontier": "Mean over the runs ± {band}, for each notion of fairness: what a policy gives up of reward, against how unfair it "
    "is. Diamonds are made for the notion. Dots join those that no other beats in one without being worse in the other.",
}


def write_report(
    outcomes: Mapping[str, Outcome],
    directory: str | Path,
    about: Mapping[str, str],
    band: str = "std",
    panels: bool = False,
    decided: Sequence[Claim] | None = None,
    digests: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    """Write figures, tables, claims and index.html to `directory`; return the path of the page.

    Parameters
    ----------
    outcomes
        By name, which is that of the files: the paper's are fig1, fig2, ...
    about
        What the head of the page says of these runs: date, machine, command.
    band
        Of figures and tables, about each mean: `fairx.simulation.bands` has the kinds.
    panels
        Whether each panel is also written as a figure of its own.
    decided
        The claims, where runs were added until they were decided; otherwise they are judged here, by
        all runs at once.
    digests
        By the names of outcomes: `runs` and `sha256` of the rows that `tune` and `test`, for rows.json.
    """
    bands.check(band)
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    for name in outcomes:
        _check_name(name)
    write_tables(outcomes, folder / "tables.csv")
    write_latex(outcomes, folder / "tables.tex", band)
    write_notions(outcomes, folder / "notions.json")
    sections = [
        {"number": index, **_section(name, outcome, folder, band, panels)}
        for index, (name, outcome) in enumerate(outcomes.items(), 1)
    ]
    found = decided if decided is not None else _claims(outcomes)
    if found:
        write_claims(found, folder / "claims.json")
    if digests:
        (folder / "rows.json").write_text(json.dumps(dict(digests), indent=1) + "\n", "utf-8")
    page = template(__package__, finding=finding, interval=interval, ends=ends).render(
        about=about,
        scales=sorted({outcome.experiment.scale for outcome in outcomes.values()} - {"paper"}),
        sections=sections,
        digests=digests,
        band=bands.BANDS[band],
        formats=FORMATS,
        **_judged(found, 1 if decided is None else LOOKS),
    )
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def _judged(found: Sequence[Claim], looks: int) -> dict[str, Any]:
    """Return what the template says of claims."""
    return {
        "claims": [claim for claim in found if claim.verdict != NOT_RUN],
        "unplayed": [claim for claim in found if claim.verdict == NOT_RUN],
        "counts": _counts(found),
        "intervals": f"{1 - bands.ALPHA / looks:.0%}",
        "looks": looks,
    }


def _claims(outcomes: Mapping[str, Outcome]) -> list[Claim]:
    return [] if PAPER.isdisjoint(outcomes) else claims(outcomes)


def _counts(found: Sequence[Claim]) -> dict[str, tuple[int, int]]:
    """Return how many claims have each verdict, by itself and by Holm's correction."""
    plain, holm = (Counter(getattr(claim, kind) for claim in found) for kind in ("verdict", "holm"))
    return {verdict: (plain[verdict], holm[verdict]) for verdict in VERDICTS}


def write_claims(found: Sequence[Claim], path: Path) -> None:
    """Write claims as JSON, a list of objects; what is not a number, or endless, is null."""
    listed = [
        {"claim": claim.sentence}
        | {name: _finite(value) for name, value in claim._asdict().items() if name != "sentence"}
        for claim in found
    ]
    path.write_text(json.dumps(listed, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _check_name(name: str) -> None:
    if not name or Path(name).name != name or "\\" in name:
        raise ValueError(f"name must be a plain file name, not {name!r}: figures are saved by it")


def _section(name: str, outcome: Outcome, folder: Path, band: str, panels: bool) -> dict[str, Any]:
    """Return what the template says of one outcome."""
    experiment = outcome.experiment
    played = {(type(panel.merit), panel.merit) for panel in outcome.panels}
    found = rows(outcome)
    there = bool(outcome.panels)
    return {
        "name": name,
        "experiment": experiment,
        "svg": inlined(plots.draw(outcome, band), folder / name, FORMATS) if there else "",
        "files": [name, *_saved_panels(name, outcome, folder, band, panels)] if there else [],
        "caption": CAPTIONS[experiment.figure].format(band=bands.BANDS[band]),
        "rows": [(row, *_regrets(row, band)) for row in found],
        "edges": any(row.at_edge for row in found),
        "searches": _searches(outcome),
        "compared": comparisons(outcome),
        "notions": notion_tables(outcome),
        "prices": [(price, words(price)) for price in prices(outcome)],
        "missing": [merit_title(m) for m in experiment.merits if (type(m), m) not in played],
    }


def _saved_panels(name: str, outcome: Outcome, folder: Path, band: str, panels: bool) -> list[str]:
    """Write each panel, if that is asked for; return the names of the files without their ends."""
    drawn = plots.panels(outcome, band) if panels else {}
    for panel, figure in drawn.items():
        save(figure, folder / f"{name}-{panel}", FORMATS)
    return [f"{name}-{panel}" for panel in drawn]


def _regrets(row: Row, band: str) -> tuple[str, str]:
    """Return both final regrets in words; a single run has no band."""
    wide = bands.factor(band, row.runs)
    pairs = ((row.fairness_mean, row.fairness_std), (row.reward_mean, row.reward_std))
    fairness, reward = (
        f"{number(mean)} ± {number(wide * std)}" if row.runs > 1 else number(mean)
        for mean, std in pairs
    )
    return fairness, reward


def _searches(outcome: Outcome) -> list[dict[str, Any]]:
    return [
        {
            "merit": merit_title(panel.merit),
            "policy": curve.label,
            "tuned_by": curve.tuned_by,
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
    known = claim.runs and math.isfinite(claim.low) and math.isfinite(claim.high)
    ends = f" [{number(claim.low)} to {number(claim.high)}]" if known else ""
    return number(claim.value) + ends if math.isfinite(claim.value) else ""
