"""The service's pages name what there is, and nothing else."""

from __future__ import annotations

import argparse
import json
import re
from functools import cache
from pathlib import Path

import pytest

from fairx.command.main import parser

pytest.importorskip("starlette", reason="pip install 'fairx[serve]'")

from fairx.service.access import ADMIN, DECIDE, READ, REWARD
from fairx.service.failures import CODES
from fairx.service.limits import Limits
from fairx.service.metrics import Metrics
from fairx.service.routes import ROUTES
from fairx.store.settings import COUNTING, LINEAR, MERITS, Settings
from fairx.store.tables import TABLES

ROOT = Path(__file__).parent.parent
PAGES = ROOT / "docs" / "service"
pytestmark = pytest.mark.skipif(
    not PAGES.exists(), reason="docs are not part of the sdist: use a clone"
)


@cache
def text_of(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8")


@cache
def everything() -> str:
    pages = [*sorted(PAGES.glob("*.md")), ROOT / "docs" / "client.md", ROOT / "README.md"]
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


@cache
def subcommands() -> dict[str, argparse.ArgumentParser]:
    (found,) = (
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    return dict(found.choices)


def options_of(name: str) -> set[str]:
    return set(subcommands()[name]._option_string_actions)


def test_the_table_of_routes_is_the_one_that_is_served() -> None:
    rows = re.findall(r"^\| `([A-Z]+) (/\S+)` \| (\w*) *\|", text_of("api.md"), re.MULTILINE)
    assert sorted(rows) == sorted((each.method, each.path, each.role or "") for each in ROUTES)


def test_routes_named_elsewhere_exist() -> None:
    paths = {(each.method, each.path) for each in ROUTES}
    named = re.findall(r"`(GET|POST|DELETE) (/[\w/{}.]+)`", everything())
    assert len(named) > len(ROUTES)
    assert set(named) <= paths


def test_every_code_of_an_error_is_on_the_page() -> None:
    rows = set(re.findall(r"^\| (\d{3}) \| `(\w+)` \|", text_of("api.md"), re.MULTILINE))
    assert {(str(status), code) for _, status, code, _ in CODES} <= rows
    sources = (ROOT / "src" / "fairx" / "service").rglob("*.py")
    refused = re.compile(r'Refused\(\s*(\d{3}), "(\w+)"')
    found = {pair for path in sources for pair in refused.findall(path.read_text("utf-8"))}
    assert len(found) > 3
    assert found - {("400", "disconnected")} <= rows  # nobody is there to read that one


def test_every_limit_is_on_the_page_with_its_default() -> None:
    rows = dict(
        re.findall(r"^\| `--limit-([\w-]+)` \| ([\d,]+) \|", text_of("operation.md"), re.MULTILINE)
    )
    defaults = {
        name.replace("_", "-"): f"{value:,.0f}" for name, value in Limits()._asdict().items()
    }
    assert rows == defaults


def test_every_role_is_on_the_page() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", text_of("operation.md"), re.MULTILINE)
    assert {DECIDE, REWARD, READ, ADMIN} <= set(rows)


def test_every_metric_is_on_the_page() -> None:
    rows = set(re.findall(r"^\| `(fairx_\w+)` \|", text_of("operation.md"), re.MULTILINE))
    found = set()
    for metric in Metrics().registry.collect():
        found.add(metric.name + ("_total" if metric.type == "counter" else ""))
    assert rows == found


def test_every_table_setting_and_policy_is_on_a_page() -> None:
    for name in re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", TABLES):
        assert f"`{name}`" in text_of("promises.md"), f"promises.md does not mention {name}"
    for name in {*Settings._fields, *COUNTING, *LINEAR, *MERITS} - {"policy"}:
        assert f"`{name}`" in text_of("index.md"), f"index.md does not mention {name}"


def test_every_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", everything()))
    assert len(named) > 15
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    assert named <= set(re.findall(r"^def (test_\w+)\(", sources, re.MULTILINE))
    for file in re.findall(r"\btests/(\w+\.py)", everything()):
        assert (ROOT / "tests" / file).exists(), f"there is no tests/{file}"


def test_every_promise_has_a_heading_and_a_test() -> None:
    parts = re.split(r"^### ", text_of("promises.md"), flags=re.MULTILINE)
    promises = [part for part in parts if re.match(r"\d\. ", part)]
    assert [part[0] for part in promises] == list("123456")
    assert all(re.search(r"\*Tests?\*:\s+`test_", part) for part in promises)


def test_every_command_and_option_exists() -> None:
    fenced = re.findall(r"```(?:sh|ini)\n(.*?)\n```", everything(), re.DOTALL)
    quoted = re.findall(r"^    .*$|(?<!`)`[^`\n]+`(?!`)", everything(), re.MULTILINE)
    code = "\n".join([*fenced, *(part.strip(" `") for part in quoted)]).replace("\\\n", " ")
    commands = re.findall(r"(?:^|/bin/)fairx ([a-z]+)\b(.*)", code, re.MULTILINE)
    assert {"serve", "verify", "backup", "restore", "audit"} <= {name for name, _ in commands}
    for name, rest in commands:
        assert name in subcommands(), f"there is no fairx {name}"
        options = set(re.findall(r"(?<!\S)(--[a-z][a-z-]+)", rest.partition("#")[0]))
        assert options <= options_of(name), f"fairx {name} has no {options - options_of(name)}"
    for option in re.findall(
        r"^(--(?:limit-|no-|secret-|refresh|demo)[a-z-]*)", code, re.MULTILINE
    ):
        assert option in options_of("serve"), f"fairx serve has no {option}"


def test_every_answer_on_the_pages_is_json() -> None:
    blocks = re.findall(r"```json\n(.*?)\n```", everything(), re.DOTALL)
    assert len(blocks) > 15
    for block in blocks:
        json.loads(block)
