"""Tables for a paper: what LaTeX would read is what the rows say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import Made, panel, regrets

from fairx.report import rows, write_report
from fairx.report.latex import escaped, measured, write_latex

NASTY = r"50 % of R&D_{x} \input{/etc/passwd} $a^2$ #1 ~ <b> | \\"
COMMANDS = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|",
}  # fmt: skip
TOKEN = re.compile(r"\\text[a-z]+\{\}|\\[&%$#_{}]|[^\\&%$#_{}~^<>|]")


def printed(latex: str) -> str:
    """Return what LaTeX prints of escaped words; refuse what it would take for a command."""
    assert TOKEN.sub("", latex) == ""
    return "".join(COMMANDS.get(token, token[-1]) for token in TOKEN.findall(latex))


@given(st.text())
def test_words_are_printed_as_they_are(words: str) -> None:
    assert printed(escaped(words)) == " ".join(words.split())


def test_the_words_of_all_labels_are_printed() -> None:
    assert printed(escaped(NASTY)) == NASTY


@pytest.mark.parametrize(
    ("mean", "half", "words"),
    [
        (1234.5678, 12.3, r"$1{,}235 \pm 12$"),
        (1234.5678, 1.23, r"$1{,}234.6 \pm 1.2$"),
        (-1234567.8, 4321.0, r"$-1{,}234{,}568 \pm 4{,}321$"),
        (0.00123456, 0.000012, r"$0.001235 \pm 0.000012$"),
        (5.0, 0.0, r"$5.00 \pm 0.00$"),
        (0.0, 0.0, r"$0 \pm 0$"),
        (3.0, 1e-300, r"$3.000000000 \pm 0.000000000$"),
    ],
)
def test_digits_are_those_of_the_band(mean: float, half: float, words: str) -> None:
    assert measured(mean, half, runs=2) == words


def test_a_table_has_every_row_and_is_balanced(tmp_path: Path) -> None:
    made = {"UCB": Made(9000, 1, -900), NASTY: Made(500)}
    found = regrets("fig_2", panel(made, 6), panel(made, 8))
    found = found._replace(experiment=found.experiment._replace(title="Regret & {more}"))
    write_latex({"fig_2": found, "again": found}, tmp_path / "tables.tex")
    text = (tmp_path / "tables.tex").read_text(encoding="utf-8")
    assert re.findall(r"\\(begin|end)\{(\w+)\}", text) == 2 * [
        ("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table"),
    ]  # fmt: skip
    bare = re.sub(r"\\[\\{}%]", "", text)
    assert bare.count("{") == bare.count("}")
    assert r"\caption{Regret \& \{more\}. Final regrets" in text
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:fig-2", "tab:again"]
    (body, _) = re.findall(r"\\midrule\n(.*?)\n\\bottomrule", text, re.DOTALL)
    lines = [re.split(r"(?<!\\) ?& ?", line.removesuffix(r" \\")) for line in body.splitlines()]
    assert [printed(line[1]) for line in lines] == [row.policy for row in rows(found)]
    assert {len(line) for line in lines} == {5}
    assert lines[0][2:] == ["$2{,}000$", r"$9{,}000 \pm 71$", r"$-900.0 \pm 7.1$"]


def test_the_same_rows_have_the_same_bytes(tmp_path: Path) -> None:
    found = {"fig2": regrets("fig2", panel({"FairX-TS": Made(10)}))}
    names = ("tables.tex", "tables.csv", "fig2.pdf", "fig2.svg", "fig2.png", "index.html")
    first, second = (
        [(write_report(found, tmp_path / one, {}).parent / name).read_bytes() for name in names]
        for one in ("a", "b")
    )
    assert first == second
