"""The page of an audit in a real browser."""

from __future__ import annotations

from typing import Any

import pytest
from test_audit import MERIT, made

from fairx.auditing import audit
from fairx.auditing.page import write_audit


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    groups = {"ann": "first", "bob": "second"}
    found = audit(made(800, seed=2, unfair=0.4), MERIT, groups=groups)
    about = {"command": "fairx audit " + "very-long-name" * 20}
    return write_audit(found, tmp_path_factory.mktemp("page"), about).as_uri()


def column(view: Any, table: str, place: int) -> list[float]:
    cells = view.find_elements("css selector", f"#{table} tbody tr td:nth-child({place})")
    return [float(cell.get_attribute("data-value")) for cell in cells]


def test_everything_is_visible(view: Any) -> None:
    for selector, count in (("figure svg", 6), ("table", 9), ("figcaption", 6), ("dl", 1)):
        found = view.find_elements("css selector", selector)
        assert len(found) == count
        assert all(one.is_displayed() and min(one.size.values()) > 10 for one in found)


def test_figures_are_drawn_in_full(view: Any) -> None:
    uses, lost = view.execute_script(
        "const uses = [...document.querySelectorAll('figure svg use')];"
        "const own = use => use.closest('svg').querySelector(use.getAttribute('xlink:href'));"
        "return [uses.length, uses.filter(use => !own(use)).length]"
    )
    assert uses > 40  # ticks and dots
    assert lost == 0


def test_words_in_figures_can_be_searched(view: Any) -> None:
    for words in ("share of decisions", "power of the merit", "fair share: Gini"):
        assert view.execute_script("return window.find(arguments[0])", words), words
        view.execute_script("getSelection().removeAllRanges()")


def test_tables_are_sorted_by_a_click(view: Any) -> None:
    button = view.find_elements("css selector", "#arms thead button")[1]
    before = column(view, "arms", 2)
    view.execute_script("arguments[0].scrollIntoView()", button)
    button.click()
    assert column(view, "arms", 2) == sorted(before, reverse=True)
    button.click()
    assert column(view, "arms", 2) == sorted(before)
    assert button.find_element("xpath", "..").get_attribute("aria-sort") == "ascending"
    name = view.find_element("css selector", "#arms thead button")
    view.execute_script("arguments[0].click()", name)
    names = [one.text for one in view.find_elements("css selector", "#arms tbody th")]
    assert names[0] != names[-1]
    assert sorted(names) == sorted(["ann", "bob", "=cyd()", "<dee>"])


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_cut_off(view: Any, width: int) -> None:
    """At the width of a laptop and of a phone, no table and no figure is wider than its frame."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    view.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        wide = view.execute_script(
            "return [...document.querySelectorAll('body, .scroll, .card, td, th, dd')]"
            ".filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth)"
            ".map(one => one.outerHTML.slice(0, 80))"
        )
        assert wide == []
        label = view.find_element("css selector", "#arms tbody td").get_attribute("data-label")
        assert label == "Shows"
    finally:
        view.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_what_was_set_is_on_a_card(view: Any) -> None:
    terms = [one.text for one in view.find_elements("css selector", "dt")]
    for name in ("merit", "range of rewards", "strata of the box", "correction", "log", "command"):
        assert name in terms


def test_the_body_does_not_scroll_sideways(view: Any) -> None:
    width, window = view.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width <= window


def test_no_errors_and_no_requests(view: Any, address: str) -> None:
    assert view.get_log("browser") == []
    sent = [entry["message"] for entry in view.get_log("performance")]
    asked = [message for message in sent if "Network.requestWillBeSent" in message]
    assert all(address in message or '"url":"data:,"' in message for message in asked)


def test_a_foreign_script_would_not_run(view: Any) -> None:
    view.execute_script(
        "const script = document.createElement('script');"
        "script.textContent = 'window.ran = true'; document.body.append(script)"
    )
    assert view.execute_script("return window.ran") is None
    view.get_log("browser")  # the refusal is an error of ours
