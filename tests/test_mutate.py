"""The tool that changes sources at random, on a package of two functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "mutate"
SOURCE = """
def capped(number: int) -> int:
    return min(number, 10)

def doubled(number: int) -> int:
    return number * 2
"""
TESTS = """
from toy import capped, doubled

def test_capped() -> None:
    assert capped(3) == 3

def test_doubled() -> None:
    assert doubled(3) == 6
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """Return a tree whose tests do not know the cap, and know what doubling is."""
    (tmp_path / "src" / "toy").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "src" / "toy" / "__init__.py").write_text(SOURCE)
    (tmp_path / "tests" / "test_toy.py").write_text(TESTS)
    return tmp_path


def mutate(tree: Path, *options: str) -> str:
    command = [
        sys.executable,
        str(SCRIPT),
        "src",
        "--tree",
        str(tree),
        "--folder",
        str(tree / "kept"),
    ]
    return subprocess.run(
        [*command, *options], cwd=tree, check=True, capture_output=True, text=True
    ).stdout


def test_survivors_are_listed_and_the_others_counted(toy: Path) -> None:
    """One of the places is the cap, which no test reaches; results are kept, and no source is changed."""
    options = ("--count", "3", "--seed", "9", "--jobs", "1")
    found = mutate(toy, *options)
    assert found == "survived  src/toy/__init__.py:3  10 -> 11\n3 changes: 2 noticed, 1 survived\n"
    assert (toy / "src" / "toy" / "__init__.py").read_text() == SOURCE
    results = toy / "kept" / "results.jsonl"
    kept = results.read_text().splitlines(keepends=True)
    results.write_text("".join(kept[1:]))  # as if it had been interrupted
    assert mutate(toy, *options) == found
    assert sorted(results.read_text().splitlines(keepends=True)) == sorted(kept)
