"""The rooms: how many there are, that each is drawn and described, and who may import whom."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fairx

ROOT = Path(__file__).parents[1]
SOURCES = Path(fairx.__file__).parent
LOOSE = sorted(path.stem for path in SOURCES.glob("*.py") if not path.stem.startswith("__"))
FOLDERS = sorted(path.parent.name for path in SOURCES.glob("*/__init__.py"))
needs_docs = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="no docs beside the tests")


def test_at_most_ten_modules_are_loose() -> None:
    assert len(LOOSE) <= 10


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
