"""The pages that point at the code point at something."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fairx
from fairx import policies, theory

ROOT = Path(__file__).parent.parent
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
    for name in set(records) - {"Policy", "Uniform", "OptimalFair", "EG", "LinEG"}:
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
