"""The tables of a report for a paper: LaTeX, in the style of the package booktabs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from fairx.experiments.outcome import Outcome
from fairx.simulation import bands

from .tables import Row, rows

HEAD = """\
% Final regrets. In the preamble: \\usepackage{booktabs}
% Labels with letters that are not Latin need XeLaTeX or LuaLaTeX.
"""
TABLE = """
\\begin{{table}}
\\centering
\\caption{{{caption}}}
\\label{{tab:{label}}}
\\small
\\begin{{tabular}}{{llrrr}}
\\toprule
Merit & Policy & Rounds & Fairness regret & Reward regret \\\\
\\midrule
{lines}
\\bottomrule
\\end{{tabular}}
\\end{{table}}
"""
ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)


def write_latex(outcomes: Mapping[str, Outcome], path: Path, band: str = "std") -> None:
    """Write the final regrets of all outcomes, a table for each: mean ± half a band."""
    bands.check(band)
    tables = [_table(name, outcome, band) for name, outcome in outcomes.items()]
    path.write_text(HEAD + "".join(tables), encoding="utf-8", newline="\n")


def _table(name: str, outcome: Outcome, band: str) -> str:
    said = f"Final regrets, mean $\\pm$ {escaped(bands.BANDS[band])} over the runs."
    label = "".join(c if c.isascii() and c.isalnum() else "-" for c in name)
    lines = "\n".join(_lines(rows(outcome), band))
    caption = f"{escaped(outcome.experiment.title)}. {said}"
    return TABLE.format(caption=caption, label=label, lines=lines)


def _lines(found: Iterable[Row], band: str) -> Iterable[str]:
    for row in found:
        wide = bands.factor(band, row.runs)
        cells = (
            escaped(row.merit),
            escaped(row.policy),
            f"${_grouped(row.rounds, 0)}$",
            measured(row.fairness_mean, wide * row.fairness_std, row.runs),
            measured(row.reward_mean, wide * row.reward_std, row.runs),
        )
        yield " & ".join(cells) + r" \\"


def escaped(words: str) -> str:
    r"""Return words that LaTeX prints as they are.

    Examples
    --------
    >>> print(escaped("R&D_1: 50 %"))
    R\&D\_1: 50 \%
    """
    return " ".join(words.split()).translate(ESCAPES)


def measured(mean: float, half: float, runs: int) -> str:
    r"""Return a mean with half its band, to two digits of that; a single run has none.

    Examples
    --------
    >>> print(measured(1234.56, 7.891, runs=10), measured(-0.5, 0.25, runs=1))
    $1{,}234.6 \pm 7.9$ $-0.500$
    """
    known = half if runs > 1 and half > 0 else abs(mean) / 10
    digits = min(9, max(0, 1 - math.floor(math.log10(known)))) if known > 0 else 0
    words = _grouped(mean, digits)
    return f"${words} \\pm {_grouped(half, digits)}$" if runs > 1 else f"${words}$"


def _grouped(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}".replace(",", "{,}")
