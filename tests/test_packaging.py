"""What is said of the package in several places is the same in all."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import fairx

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
needs_clone = pytest.mark.skipif(not WORKFLOWS.is_dir(), reason="an sdist has no workflows")


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def pythons() -> list[str]:
    """Return the Pythons that the classifiers name."""
    text = "\n".join(project()["classifiers"])
    return re.findall(r"^Programming Language :: Python :: (3\.\d+)$", text, re.MULTILINE)


def test_no_newer_python_is_refused() -> None:
    assert project()["requires-python"] == f">={pythons()[0]}"
    numbers = [int(version.partition(".")[2]) for version in pythons()]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))


@needs_clone
def test_every_python_named_is_tested() -> None:
    text = (WORKFLOWS / "tests.yml").read_text("utf-8")
    matrices = re.findall(r"^ +python: \[(.*)\]$", text, re.MULTILINE)
    assert len(matrices) == 2  # Linux and elsewhere
    for matrix in matrices:
        assert re.findall(r'"(3\.\d+)"', matrix) == pythons()


@needs_clone
def test_actions_have_versions_and_workflows_no_addresses() -> None:
    for path in WORKFLOWS.glob("*.yml"):
        text = path.read_text("utf-8")
        assert all(re.fullmatch(r"\S+@v\d[\d.]*", one) for one in re.findall(r"uses: (.*)", text))
        assert "://" not in text


@needs_clone
def test_the_citation_is_of_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (.*)$", text, re.MULTILINE) == [fairx.__version__]
    assert re.findall(r"^license: (.*)$", text, re.MULTILINE) == [project()["license"]]


@needs_clone
def test_every_extra_is_explained() -> None:
    text = (ROOT / "docs" / "install.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(
        project()["optional-dependencies"]
    )
    for version in pythons():
        assert version in text
