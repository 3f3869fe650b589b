"""The page "Fair bandits, compared": each number on it is one of the report that is published with it."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fairx.experiments import read
from fairx.experiments.notions import NOTIONS

ROOT = Path(__file__).parent.parent
PAGE, PUBLISHED = ROOT / "docs" / "fair-bandits.md", ROOT / "docs" / "fair-bandits"
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not PAGE.exists(), reason="docs are not part of the sdist: use a clone"),
]


@pytest.fixture(scope="module")
def found() -> Any:
    """Return the worlds that were played to the end."""
    listed = json.loads((PUBLISHED / "notions.json").read_text("utf-8"))
    return {name: one for name, one in listed.items() if one["prices"]}


def comparison() -> Any:
    """Return the script that writes the tables."""
    about = importlib.util.spec_from_file_location("comparison", ROOT / "scripts" / "comparison.py")
    assert about is not None
    assert about.loader is not None
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_numbers(found: Any) -> None:
    text, script = PAGE.read_text("utf-8"), comparison()
    parts = {
        "worlds": script.worlds, "short": script.in_short, "notions": script.by_notion,
        "prices": script.by_world, "settings": script.chosen,
    }  # fmt: skip
    for name, make in parts.items():
        between = re.search(rf"<!-- {name} -->\n(.*)<!-- end of {name} -->", text, re.DOTALL)
        assert between is not None
        assert between[1] == make(found), f"{name}: give scripts/publish-report again"


def test_all_policies_and_notions_are_shown(found: Any) -> None:
    for experiment in read("fair-bandits"):
        if experiment.name not in found:
            continue
        one = found[experiment.name]
        assert one["runs"] == experiment.runs
        labels = [entrant.label for entrant in experiment.policies]
        assert [price["policy"] for price in one["prices"]] == labels
        assert [table["notion"] for table in one["tables"]] == list(experiment.notions)
        for table in one["tables"]:
            assert sorted(line["policy"] for line in table["lines"]) == sorted(labels)
            assert (PUBLISHED / f"{experiment.name}.svg").exists()
            for line in table["lines"]:
                for value, low, high in (line["unfair"], line["given_up"]):
                    assert low <= value <= high
    assert {table["notion"] for one in found.values() for table in one["tables"]} == set(NOTIONS)


def test_digests_are_those_of_the_rows(found: Any) -> None:
    kept = json.loads((PUBLISHED / "rows.json").read_text("utf-8"))
    text = PAGE.read_text("utf-8")
    for name in found:
        assert kept[name]["test"]["sha256"][:16] in text
        assert kept[name]["test"]["runs"] == len(found[name]["prices"]) * found[name]["runs"]
