"""The documentation in a real browser, from files: its picture that moves, its search, its formulas."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import unavailable

from fairx import Exponential, fair_probabilities

SITE = Path(__file__).parent.parent / "site"
UNSET = "return document.querySelectorAll('.arithmatex:not(:has(.katex))').length"
SEARCHES = """return [...document.querySelectorAll('*')].filter(
    one => one.shadowRoot && one.shadowRoot.querySelector('input')).length"""
FINDS = """return [...document.querySelectorAll('*')].filter(
    one => one.shadowRoot && one.shadowRoot.textContent.includes('results')).length"""
WIDE = "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture(scope="module")
def address() -> str:
    if not (SITE.parent / "zensical.toml").exists():
        pytest.skip("docs are not part of the sdist: use a clone")
    if not (SITE / "index.html").exists():
        unavailable("needs the documentation as built: scripts/site")
    return (SITE / "index.html").as_uri()


def shown(view: Any, kind: str) -> list[float]:
    cells = view.find_elements("css selector", f".shares .{kind} .value")
    return [float(cell.text.removesuffix(" %")) for cell in cells]


def drawn(view: Any, kind: str) -> list[float]:
    script = f"""return [...document.querySelectorAll('.shares .{kind} .fill')].map(
        fill => 100 * parseFloat(getComputedStyle(fill).width) / fill.parentNode.clientWidth)"""
    return list(view.execute_script(script))


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def requests(view: Any) -> list[str]:
    sent = [json.loads(entry["message"])["message"] for entry in view.get_log("performance")]
    asked = [one["params"] for one in sent if one["method"] == "Network.requestWillBeSent"]
    return [one["request"]["url"] for one in asked]


def test_shares_are_those_of_the_library(view: Any) -> None:
    (slider,) = view.find_elements("css selector", ".shares input")
    means = [float(cell.text) for cell in view.find_elements("css selector", ".shares .mean")]
    keys = {"4": "", "4.5": "\ue014", "0": "\ue011", "20": "\ue010"}  # none, right, home, end
    for steepness, key in keys.items():
        slider.send_keys(key)  # as one without a mouse does
        until(lambda value=steepness: slider.get_attribute("value") == value)  # type: ignore[misc]
        fair = 100 * fair_probabilities(Exponential(float(steepness)), means)
        np.testing.assert_allclose(shown(view, "fair"), fair, atol=0.0501)
        until(lambda fair=fair: np.allclose(drawn(view, "fair"), fair, atol=0.5))  # type: ignore[misc]
        assert shown(view, "winner") == [100.0 * (mean == max(means)) for mean in means]
        assert view.find_element("css selector", ".shares output").text == steepness


def test_pages_fit_a_phone_and_ask_nothing_elsewhere(browser: Any, address: str) -> None:
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    browser.get_log("performance")
    for page in sorted(SITE.rglob("*.html")):
        if page.parent.name == "reproduction" or page.name == "404.html":
            continue  # the report, which has tests of its own; and a page that only servers show
        browser.get(page.as_uri())
        until(lambda: not browser.execute_script(UNSET))
        width, window = browser.execute_script(WIDE)
        assert width <= window, page.name
    assert browser.get_log("browser") == []
    folder = address.removesuffix("index.html")
    asked = [url for url in requests(browser) if not url.startswith(("data:", folder))]
    assert [url for url in asked if url.startswith(("http", "ws", "file"))] == []


def test_the_search_works_from_files(browser: Any, address: str) -> None:
    browser.get(address)
    browser.find_element("tag name", "body").send_keys("/")
    until(lambda: browser.execute_script(SEARCHES) > 0)
    time.sleep(0.5)  # it takes the keyboard a moment after it opens
    browser.switch_to.active_element.send_keys("propensity")
    until(lambda: browser.execute_script(FINDS) > 0)
