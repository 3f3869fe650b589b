"""The dashboard in a real browser, of a real service with real traffic."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from postgres_cluster import free_port
from serving import posted

from fairx.service.dashboard.words import arm_link

FEW = {
    "Blue in Green": 0.7,
    "<script>alert(1)</script>": 0.5,
    "a/b?c=d": 0.4,
    "..": 0.2,
    "x" * 90: 0.1,
}
MERIT = {"kind": "Exponential", "steepness": 3.0}
# The relative luminance and contrast of WCAG 2, of each text with what is behind it.
CONTRAST = """
const rgba = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
  .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = node => {
  for (let one = node; one; one = one.parentElement) {
    const colour = rgba(getComputedStyle(one).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const found = [];
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
  if (!own || !node.getClientRects().length) continue;
  const style = getComputedStyle(node), svg = node.namespaceURI.endsWith("svg");
  if (svg && node.localName !== "text") continue;
  const [a, b] = [light(rgba(svg ? style.fill : style.color)), light(behind(node))];
  found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.textContent.trim().slice(0, 40)]);
}
return found;
"""


class Running(NamedTuple):
    url: str
    api: httpx.Client

    def get(self, path: str) -> Any:
        return self.api.get(f"/v1/experiments{path}").raise_for_status().json()

    def post(self, path: str, body: Any) -> Any:
        return posted(f"{self.url}/v1/experiments{path}", body)

    def traffic(self, name: str, means: dict[str, float], count: int, tag: str) -> None:
        """Decide and reward; return when all of it was learned from."""
        rng, before = random.Random(tag), self.get(f"/{name}/status")["mature"]
        for start in range(0, count, 100):
            body = {"key": f"{tag} {start}", "count": 100}
            made = self.post(f"/{name}/decide", body)["decisions"]
            rewards = [
                {"decision": one["decision"], "reward": float(rng.random() < means[one["arm"]]), "final": True}
                for one in made
            ]  # fmt: skip
            self.post(f"/{name}/rewards", {"rewards": rewards})
        until(lambda: self.get(f"/{name}/status")["mature"] == before + count)


def until(holds: Callable[[], Any], seconds: float = 30.0) -> Any:
    end = time.monotonic() + seconds
    while True:
        try:
            found = holds()
        except httpx.TransportError:
            found = None
        if found:
            return found
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder, port = tmp_path_factory.mktemp("service"), free_port()
    command = [sys.executable, "-m", "fairx", "serve", "--store", f"sqlite:///{folder / 'store.db'}",
               "--port", str(port), "--no-auth"]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log, httpx.Client(base_url=url, timeout=60) as api:
        process = subprocess.Popen(command, stderr=log, env=os.environ | {"PYTHONWARNINGS": ""})
        try:
            until(lambda: process.poll() is not None or api.get("/readyz").is_success, 120)
            assert process.poll() is None, (folder / "log").read_text("utf-8")
            found = Running(url, api)
            _fill(found)
            yield found
        finally:
            process.terminate()
            process.wait(30)


def _fill(running: Running) -> None:
    policy = {"kind": "FairXEG", "merit": MERIT, "epsilon": 0.8}
    running.post("", {"name": "songs", "arms": list(FEW), "policy": policy, "reward_window_s": 1})
    running.traffic("songs", FEW, 1500, "first")
    many = {f"seller {i}": i / 200 for i in range(200)}
    running.post("", {"name": "market", "arms": list(many), "policy": policy, "reward_window_s": 1})
    running.traffic("market", many, 1000, "first")
    running.post("", {"name": "page", "arms": list(FEW), "policy": policy, "reward_window_s": 1})
    for i in range(40):
        running.post("/page/decide", {"key": str(i), "places": [1.0, 0.6, 0.5]})
        time.sleep(0.01)
    until(lambda: running.get("/page/status")["mature"] == 120)
    running.post("", {"name": "empty", "arms": ["a"], "policy": {"kind": "Uniform"}})


PAGES = {
    "list": "/",
    "few": "/experiments/songs",
    "many": "/experiments/market",
    "slates": "/experiments/page",
    "empty": "/experiments/empty",
    "arm": arm_link("songs", "<script>alert(1)</script>"),
    "dots": arm_link("songs", ".."),
}


@pytest.fixture(scope="module", params=PAGES)
def address(request: pytest.FixtureRequest, running: Running) -> str:
    return running.url + PAGES[request.param]


def numbers(view: Any, where: str) -> dict[str, str]:
    """Return the fields in a place, exactly, after checking that they are visible."""
    found = view.find_elements("css selector", f"{where} [data-field]")
    return {
        one.get_attribute("data-field"): one.get_attribute("value") or one.get_attribute("data-value")
        for one in found
    }  # fmt: skip


def test_no_error_and_no_request_to_others(view: Any, running: Running) -> None:
    assert view.get_log("browser") == []
    sent = [json.loads(entry["message"])["message"] for entry in view.get_log("performance")]
    asked = [
        each["params"]["request"]["url"]
        for each in sent
        if each["method"] == "Network.requestWillBeSent"
    ]
    assert asked
    assert all(url.startswith(running.url + "/") for url in asked)


def test_the_body_does_not_scroll_sideways(view: Any) -> None:
    width, window = view.execute_script(
        "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert width <= window


def test_text_can_be_read(view: Any) -> None:
    found = view.execute_script(CONTRAST)
    assert len(found) > 5
    assert min(found)[0] >= 4.5, sorted(found)[:5]


def test_charts_and_tables_are_visible(view: Any) -> None:
    charts = view.find_elements("css selector", "main svg[role=img]")
    assert all(one.is_displayed() and one.size["width"] > 50 for one in charts[:30])
    marks = view.execute_script(
        "return [...document.querySelectorAll('svg.strip')].slice(0, 30).map(svg => {"
        "  const [a, b] = [svg, svg.querySelector('.mark > *, .fair')].map(one => one.getBoundingClientRect());"
        "  return [b.left - a.left, a.right - b.right, b.width] })"
    )
    assert all(left > -8 and right > -8 and width > 2 for left, right, width in marks)


def test_scripts_of_others_do_not_run(view: Any) -> None:
    view.execute_script(
        "const script = document.createElement('script');"
        "script.textContent = 'window.ran = true'; document.body.append(script)"
    )
    assert view.execute_script("return window.ran") is None
    assert any("Content Security Policy" in entry["message"] for entry in view.get_log("browser"))


@pytest.fixture
def desk(browser: Any) -> Any:
    size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return browser


def check(found: dict[str, str], expected: dict[str, Any], *fields: str) -> None:
    for field in fields:
        value = expected[field]
        assert found[field] == value or float(found[field]) == value, field


def test_the_numbers_are_those_of_the_api(desk: Any, running: Running) -> None:
    time.sleep(2)  # what was kept before the traffic is gone
    desk.get(running.url + "/experiments/songs")
    status, audit = running.get("/songs/status"), running.get("/songs/audit")
    check(numbers(desk, "#numbers"), status, "decisions", "mature", "waiting", "parked", "snapshot")
    rows = desk.find_elements("css selector", "#arms tbody tr")
    lines = sorted(audit["lines"], key=lambda line: -line["fair_share"])
    assert [row.get_attribute("data-arm") for row in rows] == [line["arm"] for line in lines]
    for place, line in enumerate(lines, 1):
        found = numbers(desk, f"#arms tbody tr:nth-child({place})")
        check(found, line, "exposure", "fair_share", "fair_low", "fair_high", "ratio", "verdict")
    desk.find_element("link text", "<script>alert(1)</script>").click()
    assert desk.find_element("css selector", "h1").text.startswith("<script>alert(1)</script>")
    line = next(line for line in lines if line["arm"] == "<script>alert(1)</script>")
    check(
        numbers(desk, "#numbers"), line, "shows", "exposure", "fair_share", "fair_low", "fair_high"
    )


def test_dots_in_a_name_lead_to_its_page(desk: Any, running: Running) -> None:
    desk.get(running.url + "/experiments/songs")
    for name in ("..", "a/b?c=d"):
        desk.find_element("link text", name).click()
        assert desk.find_element("css selector", "h1").text.startswith(name)
        desk.back()


def test_the_page_moves(desk: Any, running: Running) -> None:
    """A number changes without a reload, and what is unfolded, focused and scrolled stays."""
    desk.get(running.url + "/experiments/songs")
    desk.execute_script(
        "window.same = true; document.querySelector('#moments').closest('details').open = true;"
        "document.querySelector('#arms a').focus(); window.scrollTo(0, 300)"
    )
    link = desk.execute_script("return document.activeElement.getAttribute('href')")
    place = desk.find_element("css selector", "#numbers [data-field=decisions]")
    before = running.get("/songs/status")["decisions"]
    running.traffic("songs", FEW, 300, "more")
    until(lambda: place.get_attribute("value") == str(before + 300))
    assert place.text == f"{before + 300:,}"
    assert desk.execute_script("return window.same")
    assert desk.find_element("css selector", "#moments").is_displayed()
    assert desk.execute_script("return document.activeElement.getAttribute('href')") == link
    assert desk.execute_script("return window.scrollY") == 300
    assert desk.get_log("browser") == []


def test_it_can_be_paused_by_the_keyboard(desk: Any, running: Running) -> None:
    desk.get(running.url + "/experiments/songs")
    button = desk.find_element("css selector", ".moving button")
    button.send_keys("\n")
    assert desk.find_element("css selector", ".moving [role=status]").text == "Paused"
    before = desk.find_element("css selector", "#numbers [data-field=decisions]").text
    running.traffic("songs", FEW, 100, "while paused")
    time.sleep(6)
    assert desk.find_element("css selector", "#numbers [data-field=decisions]").text == before
    button.send_keys("\n")
    until(
        lambda: desk.find_element("css selector", "#numbers [data-field=decisions]").text != before
    )


def test_it_says_when_the_service_is_gone(desk: Any, running: Running) -> None:
    desk.get(running.url + "/experiments/songs")
    desk.execute_cdp_cmd("Network.enable", {})
    away = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    desk.execute_cdp_cmd("Network.emulateNetworkConditions", away)
    try:
        status = desk.find_element("css selector", ".moving [role=status]")
        until(lambda: status.text.startswith("Not up to date"))
    finally:
        back = away | {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
        desk.execute_cdp_cmd("Network.emulateNetworkConditions", back)
    until(lambda: status.text == "Moving")
    desk.get_log("browser")  # the requests that failed are errors of ours


def test_it_works_without_script(desk: Any, running: Running) -> None:
    desk.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        desk.get(running.url + "/experiments/songs")
        shown = desk.find_element("css selector", "#numbers [data-field=decisions]").text
        assert shown == f"{running.get('/songs/status')['decisions']:,}"
        assert not desk.find_element("css selector", ".moving").is_displayed()
    finally:
        desk.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
