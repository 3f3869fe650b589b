"""The rooms: how many there are, that each is drawn and described, and who may import whom."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import fairx

ROOT = Path(__file__).parents[1]
SOURCES = Path(fairx.__file__).parent
LOOSE = sorted(path.stem for path in SOURCES.glob("*.py") if not path.stem.startswith("__"))
FOLDERS = sorted(path.parent.name for path in SOURCES.glob("*/__init__.py"))
# Loops that are compiled with all they call, and a list of options: in pieces they would read no better.
LONG = {
    "add_audit",
    "deploy_within",
    "factorise",
    "play_catalogue",
    "play_slates",
    "refactor_columns",
    "replay_events",
}
needs_docs = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="no docs beside the tests")


def test_at_most_ten_modules_are_loose() -> None:
    assert len(LOOSE) <= 10


def described(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield all docstrings."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in (node for node in ast.walk(tree) if isinstance(node, kinds)):
        if isinstance(node.body[0], ast.Expr) and ast.get_docstring(node) is not None:
            yield node.body[0].value


def test_modules_have_at_most_200_lines_and_functions_25_statements() -> None:
    long = set()
    for path in SOURCES.rglob("*.py"):
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        docstrings = sum((each.end_lineno or 0) - each.lineno + 1 for each in described(tree))
        lines = len(text.splitlines()) - docstrings
        assert lines <= 200, f"{path} has {lines} lines without docstrings: take a part out of it"
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                statements = sum(isinstance(part, ast.stmt) for part in ast.walk(node)) - 1
                if statements > 25:
                    long.add(node.name)
    assert long == LONG


@needs_docs
@pytest.mark.parametrize("room", LOOSE + FOLDERS)
def test_every_room_is_described(room: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert re.search(rf"\*\*{room}\*\*: \S", page), f"docs/architecture.md does not describe {room}"


@needs_docs
def test_every_room_has_a_layer_and_none_but_one_speaks_to_numba() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    layers, numba = tool["contracts"]
    assert "ignore_imports" not in layers | numba
    named = {name.strip()[6:] for row in layers["layers"] for name in row.split("|")}
    assert named == {*LOOSE, *FOLDERS}
    assert {name[6:] for name in numba["source_modules"]} == named - {"compiled"}


@needs_docs
def test_the_picture_is_what_the_sources_say() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "architecture", "--check"], check=False, text=True,
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
