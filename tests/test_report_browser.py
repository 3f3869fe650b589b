"""The page in a real browser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from outcomes import RUNS, Made, exposures, panel, regrets

from fairx.report import write_report


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = {"UCB": Made(9000, 1, -900), "FairX-TS": Made(1000), "a" * 60: Made(500)}
    even = np.full((RUNS, 14), 1 / 14)
    outcomes = {
        "fig1": exposures({"UCB": (even, even)}, np.linspace(0, 1, 14)),
        "figA1": regrets("figA1", *(panel(made, c) for c in (6, 12))),
    }
    about = {"Command": "fairx run " + "very-long-name" * 20}
    return write_report(outcomes, tmp_path_factory.mktemp("page"), about).as_uri()


def test_everything_is_visible(view: Any) -> None:
    view.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    for selector, count in (("figure svg", 2), ("table", 5), ("figcaption", 2), ("dl", 3)):
        found = view.find_elements("css selector", selector)
        assert len(found) == count
        assert all(one.is_displayed() and min(one.size.values()) > 10 for one in found)


def test_words_in_figures_can_be_searched(view: Any) -> None:
    for words in ("fairness regret, log axes", "average exposure", "a" * 60, "grey dashes: √T"):
        assert view.execute_script("return window.find(arguments[0])", words), words
        view.execute_script("getSelection().removeAllRanges()")


def test_words_in_figures_do_not_overlap(view: Any) -> None:
    """Whatever font the browser has: the boxes of words in a figure, less two pixels each way."""
    touching = view.execute_script(
        "const found = [];"
        "for (const svg of document.querySelectorAll('figure svg')) {"
        "  const all = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim());"
        "  const boxes = all.map(t => t.getBoundingClientRect());"
        "  for (let i = 0; i < all.length; i++) for (let j = 0; j < i; j++) {"
        "    const [a, b] = [boxes[i], boxes[j]];"
        "    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);"
        "    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);"
        "    if (wide > 2 && high > 4) found.push(all[i].textContent + ' / ' + all[j].textContent);"
        "  } } return found"
    )
    assert touching == []


def test_figures_are_drawn_in_full(view: Any) -> None:
    """Marks are found in their own figure."""
    uses, lost = view.execute_script(
        "const uses = [...document.querySelectorAll('figure svg use')];"
        "const own = use => use.closest('svg').querySelector(use.getAttribute('xlink:href'));"
        "return [uses.length, uses.filter(use => !own(use)).length]"
    )
    assert uses > 100  # ticks
    assert lost == 0


def test_the_body_does_not_scroll_sideways(view: Any) -> None:
    width, window = view.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width <= window


def test_figures_are_on_white(view: Any) -> None:
    (card, *_) = view.find_elements("css selector", ".card")
    assert card.value_of_css_property("background-color") == "rgba(255, 255, 255, 1)"


def test_no_errors_and_no_requests(view: Any, address: str) -> None:
    assert view.get_log("browser") == []
    sent = [entry["message"] for entry in view.get_log("performance")]
    asked = [message for message in sent if "Network.requestWillBeSent" in message]
    assert all(address in message or '"url":"data:,"' in message for message in asked)


def test_the_claims_can_be_reached_by_keyboard(view: Any) -> None:
    assert view.execute_script(
        "return [...document.querySelectorAll('.scroll, .card')].every(box => box.tabIndex === 0)"
    )
