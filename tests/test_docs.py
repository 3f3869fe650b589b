"""The pages that point at the code point at something."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from cases import RIVALS

import fairx
from fairx import policies, theory
from fairx.report.claims import STATEMENTS
from fairx.simulation.bands import Interval

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = Path(fairx.__file__).parent
PAGE = ROOT / "docs" / "paper-to-code.md"
needs_docs = pytest.mark.skipif(
    not PAGE.exists(), reason="docs are not part of the sdist: use a clone"
)


@needs_docs
def test_what_the_paper_maps_to_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    pairs = re.findall(r"`([\w/]+\.py)`: ((?:`[\w.]+`(?:, | or |; )?)+)", text)
    assert len(pairs) > 10
    for file, names in pairs:
        source = (SOURCES / file).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"(def|class) {name}\b", source), f"{file} has no {name}"
    for name in re.findall(r"`theory\.(?!py)(\w+)`", text):
        assert hasattr(theory, name), f"theory has no {name}"


@needs_docs
@pytest.mark.parametrize("page", ["paper-to-code.md", "policies.md"])
def test_every_policy_is_on_the_page(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    records = [name for name in policies.__all__ if hasattr(getattr(policies, name), "start")]
    others = {type(policy).__name__ for policy in RIVALS} if page == "paper-to-code.md" else set()
    for name in set(records) - {"Policy", "Uniform", "OptimalFair", "EG", "LinEG"} - others:
        assert name in text, f"{page} does not mention {name}"


@needs_docs
def test_every_dependency_is_justified() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").lower()
    configuration = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    part = configuration[: configuration.index("[tool.hatch.version]")]
    for name in re.findall(
        r'"([a-z][\w-]+)(?:\[\w+\])?(?:>=|<|")', part[part.index("dependencies =") :]
    ):
        if name not in ("fairx", "hatchling"):
            assert name in page, f"dependencies.md does not justify {name}"


@needs_docs
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_code_is_not_cut_off(page: Path) -> None:
    """What is wider than 80 columns does not fit a page; lines of lists may begin with spaces too."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```.*?^```", text, re.DOTALL | re.MULTILINE)
    indented = re.findall(r"(?<=\n\n)(?: {4}.*\n)+", text)
    lines = [line for block in (*fenced, *indented) for line in block.splitlines()]
    assert [line for line in lines if len(line) > 80] == []


@needs_docs
@pytest.mark.parametrize("section", ["Tutorial", "Guide"])
def test_every_guide_begins_with_a_picture(section: str) -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    (found,) = (part[section] for part in settings["project"]["nav"] if section in part)
    pages = (
        [found] if isinstance(found, str) else [name for part in found for name in part.values()]
    )
    for page in pages:
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert re.match(r"# .+\n\n!\[.{20,}\]\([\w/.]+\)\n", text), f"{page} has no picture"


@needs_docs
def test_pictures_are_small_and_used_and_follow_the_colours_of_the_page() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
    assert len(pictures) > 10
    for picture in pictures:
        drawn = picture.read_text(encoding="utf-8")
        assert f"pictures/{picture.name})" in text
        assert len(drawn) < 60_000
        assert "light-dark(" in drawn
        assert not re.search(r"(href|src)=|url\(|<image", drawn)


@needs_docs
def test_the_tables_of_scale_are_those_that_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    scaling = importlib.import_module("drawings.scaling")
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    for name in scaling.AGAINST:
        assert scaling.table(name) in text, f"write anew what benchmarks/scale.py {name} measured"


@needs_docs
@pytest.mark.service
def test_pictures_are_those_of_the_runs() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "pictures"), "--check"]
    assert subprocess.run(script, check=False).returncode == 0


@needs_docs
@pytest.mark.parametrize(
    ("file", "words"),
    [
        (
            "claims.json",
            "Of 47 claims, holds: {holds}, undecided: {undecided}, not run: {not run}.",
        ),
        (
            "claims-seed-31.json",
            "**{holds} hold, {undecided} are undecided, none is contradicted**",
        ),
        ("tuned-longer/claims.json", "**All {holds} claims that these figures show hold**"),
    ],
)
def test_published_verdicts_follow_from_the_rules_of_today(file: str, words: str) -> None:
    """Claims, statistics and rules are those of the code; intervals keep or break them; the page counts them."""
    found = json.loads((ROOT / "docs" / "reproduction" / file).read_text("utf-8"))
    for claim, statement in zip(found, STATEMENTS, strict=True):
        assert (claim["claim"], claim["statistic"]) == (statement.sentence, statement.statistic)
        if claim["verdict"] != "not run":
            interval = Interval(claim["value"], claim["low"], claim["high"])
            assert (claim["rule"], claim["verdict"]) == (
                str(statement.rule),
                statement.rule.verdict(interval),
            )
    counts = Counter(claim["verdict"] for claim in found)
    page = " ".join((ROOT / "docs" / "reproduction.md").read_text("utf-8").split())
    assert words.format_map(counts) in page
