"""The documentation as built: nothing dead, nothing left out, nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from conftest import imported, unavailable

import fairx

ROOT = Path(__file__).parent.parent
DOCS, SITE, SETTINGS = ROOT / "docs", ROOT / "site", ROOT / "zensical.toml"
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
needs_docs = pytest.mark.skipif(
    not SETTINGS.exists(), reason="docs are not part of the sdist: use a clone"
)
pytestmark = needs_docs


class Page(HTMLParser):
    """What a page has, what it leads to and what a browser loads for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.names |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if LOADED.get(tag) in found and found.get("rel") != "canonical":
            self.loaded.append(found[LOADED[tag]])


@cache
def page(path: Path) -> Page:
    return Page(path)


@pytest.fixture(scope="module")
def site() -> Path:
    if not (SITE / "index.html").exists():
        unavailable("needs the documentation as built: scripts/site")
    return SITE


def pages_of(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_of(part)


def test_every_page_is_in_the_navigation_once_and_exists() -> None:
    listed = sorted(pages_of(tomllib.loads(SETTINGS.read_text("utf-8"))["project"]["nav"]))
    notebooks = {
        path.with_suffix(".md") for path in DOCS.rglob("*.ipynb")
    }  # run by scripts/gallery
    pages = notebooks | set(DOCS.rglob("*.md"))
    assert listed == sorted(page.relative_to(DOCS).as_posix() for page in pages)


def test_links_lead_somewhere(site: Path) -> None:
    dead = []
    for path in sorted(site.rglob("*.html")):
        if (
            path.name == "404.html"
            or not (DOCS / path.relative_to(site)).with_suffix(".md").exists()
        ):
            continue
        for link in (*page(path).links, *page(path).loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (
                parts.fragment
                and target.suffix == ".html"
                and unquote(parts.fragment) not in page(target).names
            ):
                dead.append(f"{path.relative_to(site)}: {link}")
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    asked = [link for path in site.rglob("*.html") for link in page(path).loaded]
    styles = [text.read_text("utf-8") for text in site.rglob("*.css")]
    asked += [found for text in styles for found in re.findall(r"url\([\"']?([^\"')]+)", text)]
    asked += [found for text in styles for found in re.findall(r"@import\s*[\"']([^\"']+)", text)]
    assert len(asked) > 100
    assert [link for link in asked if re.match(r"(https?:)?//", link)] == []


def test_the_reference_has_every_public_name(site: Path) -> None:
    names = {part for name in page(site / "reference.html").names for part in name.split(".")}
    assert set(fairx.__all__) - names - {"__version__"} == set()


@pytest.mark.parametrize("link", ["b.md", "b.md#there", "b.md#nothing", "nothing.md", "#nothing"])
def test_the_builder_stops_at_dead_links(tmp_path: Path, link: str) -> None:
    imported("zensical", "pip install --group docs")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# A\n\n[link]({link})\n", encoding="utf-8")
    (tmp_path / "docs" / "b.md").write_text("# B\n\n## There\n", encoding="utf-8")
    (tmp_path / "zensical.toml").write_text('[project]\nsite_name = "a"\n', encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True)
    assert (done.returncode == 0) == ("nothing" not in link)
