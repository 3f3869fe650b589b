"""The notebooks: committed without outputs, run as they are, and shown with their pictures."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import unavailable

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "gallery").glob("*.ipynb"))
pytestmark = pytest.mark.skipif(not NOTEBOOKS, reason="docs are not part of the sdist: use a clone")


def cells_of(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def test_there_is_one_for_every_kind_of_reader() -> None:
    wanted = {"first-look", "own-policy", "own-merit", "figure-2", "audit", "service"}
    assert wanted <= {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_without_outputs_and_fits_a_page(path: Path) -> None:
    first, *cells = cells_of(path)
    assert "".join(first["source"]).startswith("# ")
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
        assert [line for line in cell["source"] if len(line.rstrip()) > 80] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_page_is_that_of_a_run_of_it(path: Path) -> None:
    page = ROOT / "site" / "gallery" / f"{path.stem}.html"
    if not page.exists():
        unavailable("needs the documentation as built: scripts/site")
    text = page.read_text(encoding="utf-8")
    assert hashlib.sha256(path.read_bytes()).hexdigest() in text, "run it: scripts/site"
    assert 'class="card"' in text
    assert f'href="{path.name}"' in text
    assert (page.parent / path.name).read_bytes() == path.read_bytes()
