"""What a terminal and a notebook show of a result: a few lines, not its digits."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fairx.texts import table
from fairx.types import Vector

if TYPE_CHECKING:
    from .provenance import Provenance
    from .result import Result, Summary

LINE, NAME, WHOLE = 78, 20, 590  # characters of a line, of the name of a curve, of all
SHOWN = 5  # curves and arms that are named
POINTS = 40  # of a small picture


def result_words(result: Result) -> str:
    """Return where a result comes from and how it ended, in under 600 characters."""
    return _lines("Result", _facts(result))


def result_page(result: Result) -> str:
    """Return the same as HTML, with a small picture of the fairness regret of each run."""
    rows = [(name, _cut(text, 3 * LINE)) for name, text in _facts(result)]
    return table("Result", rows, _picture(result))


def summary_words(summary: Summary) -> str:
    """Return the last of the means and deviations, in one line each."""
    return _lines("Summary", _last(summary))


def summary_page(summary: Summary) -> str:
    """Return the same as HTML."""
    return table("Summary", _last(summary))


def _lines(title: str, facts: list[tuple[str, str]]) -> str:
    lines = [_cut(f"  {name}: {text}") for name, text in facts]
    return _cut("\n".join([title, *lines]), WHOLE)


def _facts(result: Result) -> list[tuple[str, str]]:
    origin, last = result.provenance, result.rounds[-1]
    numbers = ", ".join(map(str, result.runs[:SHOWN])) + (", …" if result.runs.size > SHOWN else "")
    ends = [(name, curve[:, -1]) for name, curve in result.curves().items()]
    more = len(ends) - SHOWN
    return [
        ("policy", origin.policy),
        ("environment", origin.environment),
        ("judge", f"{origin.judge}, seed {origin.seed}, fairx {origin.version}"),
        *([("places", _places(origin))] if origin.weights else []),
        ("runs", f"{numbers}; {result.runs.size} of {last:,} rounds, mean ± std:"),
        *((_cut(name.replace("_", " "), NAME), _spread(values)) for name, values in ends[:SHOWN]),
        *([("measures", f"{more} more")] if more > 0 else []),
        ("exposure", _most(result.exposure.mean(axis=0))),
    ]


def words_of_places(value: Any) -> str:
    """Return the numbers of places, or how they are learned from, in words.

    Examples
    --------
    >>> words_of_places((1.0, 0.5)), words_of_places("each")
    ('1, 0.5', 'each')
    """
    return value if isinstance(value, str) else ", ".join(f"{number:.6g}" for number in value)


def _places(origin: Provenance) -> str:
    seen = f" ({words_of_places(origin.examination)})" if origin.examination else ""
    return f"weights {words_of_places(origin.weights)}; feedback {origin.feedback}{seen}"


def _last(summary: Summary) -> list[tuple[str, str]]:
    pairs = {"fairness regret": "fairness", "reward regret": "reward",
             "best arm regret": "best_arm", "reward earned": "earned"}  # fmt: skip
    return [
        ("rounds", f"{summary.rounds[-1]:,}, mean ± std of the runs:"),
        *(
            (words, _plus_minus(*(getattr(summary, f"{n}_{half}")[-1] for half in ("mean", "std"))))
            for words, n in pairs.items()
        ),
        ("exposure", _most(summary.exposure_mean)),
    ]


def _spread(values: Vector) -> str:
    return _plus_minus(values.mean(), values.std(ddof=1) if values.size > 1 else np.nan)


def _plus_minus(mean: float, std: float) -> str:
    """Return a mean with the digits that its deviation leaves.

    Examples
    --------
    >>> _plus_minus(1797.93, 112.4), _plus_minus(34.519, 1.84), _plus_minus(0.25, 0.0)
    ('1,798 ± 112', '34.5 ± 1.8', '0.25 ± 0')
    """
    if not 1e-6 < std < 1e9 or not abs(mean) < 1e9:
        return f"{mean:.5g}" + ("" if np.isnan(std) else f" ± {std:.2g}")
    digits = max(0, 1 - math.floor(math.log10(std)))
    return f"{mean:,.{digits}f} ± {std:,.{digits}f}"


def _most(exposure: Vector) -> str:
    order = np.argsort(-exposure, kind="stable")[:SHOWN]
    parts = [f"arm {arm} {exposure[arm]:.3g}" for arm in order]
    left = exposure.size - len(parts)
    return ", ".join(parts) + (f", {left} more" if left else "")


def _cut(text: str, limit: int = LINE) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _picture(result: Result, width: int = 240, height: int = 60) -> str:
    """Return one line a run, of some of its checkpoints, as SVG."""
    marks = np.unique(np.linspace(0, result.rounds.size - 1, POINTS).astype(int))
    curves = result.fairness_regret[:SHOWN, marks]
    top = max(float(np.nanmax(curves)), 1e-300)
    across = result.rounds[marks] / result.rounds[-1] * width
    lines = "".join(
        f'<polyline points="{" ".join(f"{x:.0f},{y:.0f}" for x, y in zip(across, ys, strict=True))}"/>'
        for ys in height * (1 - curves / top)
    )
    says = html.escape("fairness regret by round")
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="{says}" fill="none" '
        f'stroke="#0072B2" stroke-opacity=".6"><title>{says}</title>{lines}</svg>'
    )
