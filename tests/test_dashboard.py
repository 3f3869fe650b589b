"""The pages of the dashboard: their numbers are the API's, and nothing on them is alive."""

from __future__ import annotations

import asyncio
import base64
import io
import random
import re
import threading
import time
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import unquote

import httpx
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairx import Exponential, fair_exposure
from fairx.auditing.result import Moment
from fairx.service import holding
from fairx.service.access import Access
from fairx.service.app import Application
from fairx.service.cache import FRESH, Cache
from fairx.service.dashboard import charts, facts, pages
from fairx.service.dashboard.looks import Looks
from fairx.service.dashboard.words import arm_link
from fairx.service.limits import Limits
from fairx.service.runtime import Runtime
from fairx.store import located
from fairx.store.errors import Unavailable
from fairx.store.identity import minted

holding.COMPILED_IN = 60.0  # a busy machine is slow, not wrong
SECRET = b"s" * 32
SCRIPT = "<script>alert(1)</script>"
NEW = "brand new"  # added while there is traffic
ARMS = {
    "Blue in Green": 0.7,
    SCRIPT: 0.5,
    "a/b?c=d&e#f": 0.4,
    "..": 0.3,
    '100%25 "it\'s"': 0.2,
    NEW: 0.5,
}
FIRST = list(ARMS)[:-1]
FAIR = {
    "kind": "FairXEG", "merit": {"kind": "Exponential", "steepness": 3.0}, "epsilon": 0.8,
}  # fmt: skip
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Service(NamedTuple):
    client: Client
    runtime: Runtime
    now: list[float]

    def api(self, path: str) -> Any:
        answer = self.client.get(f"/v1/experiments{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any) -> Any:
        answer = self.client.post(f"/v1/experiments{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def page(self, path: str, status: int = 200) -> Page:
        answer = self.client.get(path)
        assert answer.status_code == status, answer.text
        return read(answer.text)

    def settle(self, name: str, mature: int) -> None:
        """Wait until all of these decisions were learned from."""
        end = time.monotonic() + 30
        while self.api(f"/{name}/status")["mature"] < mature and time.monotonic() < end:
            time.sleep(0.01)
        assert self.api(f"/{name}/status")["mature"] == mature


class Number(NamedTuple):
    value: str
    text: str


class Page(HTMLParser):
    """Numbers by where they are: the ids, arms and experiments around them."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[tuple[str, dict[str, str | None]]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.numbers: dict[tuple[str, ...], dict[str, list[Number]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self.texts: dict[str, str] = defaultdict(str)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append((tag, dict(attrs)))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        opened, attrs = self.stack.pop()
        assert opened == tag, f"<{opened}> is closed by </{tag}>"
        if "data-field" in attrs:
            value = attrs.get("value", attrs.get("data-value")) or ""
            field = attrs["data-field"] or ""
            self.numbers[self.where()][field].append(Number(value, self.texts.pop("field")))

    def handle_data(self, data: str) -> None:
        if any("data-field" in attrs for _, attrs in self.stack):
            self.texts["field"] += data.strip()
        for tag, attrs in self.stack:
            for key in (tag, attrs.get("id")):
                if key:
                    self.texts[key] += data

    def where(self) -> tuple[str, ...]:
        kinds = ("id", "data-arm", "data-experiment")
        found = (attrs[kind] or "" for _, attrs in self.stack for kind in kinds if kind in attrs)
        return tuple(name for name in found if name != "content")

    def of(self, *where: str) -> dict[str, str]:
        """Return the number of each field in a place."""
        assert where in self.numbers, sorted(self.numbers)
        return {field: found[0].value for field, found in self.numbers[where].items()}


def read(text: str) -> Page:
    page = Page()
    page.feed(text)
    assert page.stack == []
    return page


def same(shown: str, value: Any) -> bool:
    return shown == "" if value is None else shown == value or float(shown) == value


def check(found: dict[str, str], expected: dict[str, Any], *fields: str) -> None:
    for field in fields:
        assert same(found[field], expected[field]), (field, found[field], expected[field])


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with started(tmp_path, Access(open_to_all=True, admin_token=None, rate=1e6)) as found:
        yield found


class Client:
    """Asks the application in its own event loop, without a socket."""

    def __init__(self, runtime: Runtime) -> None:
        transport = httpx.ASGITransport(Application(runtime, pages))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://service")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(60)

    def __getattr__(self, method: str) -> Any:
        return lambda path, **about: self.run(self._client.request(method, path, **about))

    def close(self) -> None:
        self.run(self._client.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def started(place: Path | str, access: Access) -> Iterator[Service]:
    now = [1_700_000_000.0]
    store = located(place if isinstance(place, str) else f"sqlite:///{place / 'store.db'}")
    runtime = Runtime(store, SECRET, access, Limits(), 0.02, clock=lambda: now[0])
    client = Client(runtime)
    try:
        client.run(runtime.start())
        yield Service(client, runtime, now)
        client.run(runtime.stop())
    finally:
        client.close()


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with rewards in, late, missing, parked and waited for, and arms that changed."""
    folder = tmp_path_factory.mktemp("busy")
    with started(folder, Access(open_to_all=True, admin_token=None, rate=1e6)) as found:
        settings = {"arms": FIRST, "policy": FAIR, "floor": 0.01, "reward_window_s": 60}
        found.post("", {"name": "songs", **settings})
        found.post("", {"name": "quiet", "arms": ["a"], "policy": FAIR})
        _traffic(found, "songs", random.Random(5))
        yield found


def _traffic(service: Service, name: str, rng: random.Random) -> None:
    late = []
    for step in range(40):
        body: dict[str, Any] = {"key": f"k{step}", "count": 25}
        if step % 3 == 0:
            body["candidates"] = rng.sample(FIRST, 3)
        made = service.post(f"/{name}/decide", body)["decisions"]
        rewards = []
        for one in made:
            reward = {"decision": one["decision"], "reward": float(rng.random() < ARMS[one["arm"]])}
            kind = rng.random()
            late += [reward] if kind > 0.95 else []
            rewards += [{**reward, "final": kind < 0.6}] if kind < 0.8 else []
        service.post(f"/{name}/rewards", {"rewards": rewards})
        service.now[0] += 1.0
        if step == 20:
            service.post(f"/{name}/arms", {"pause": [".."], "add": [NEW]})
        if step == 29:
            service.now[0] += 100.0  # all are mature
            service.settle(name, 750)
            service.post(f"/{name}/rewards", {"rewards": late})
    service.now[0] += 10.0
    key = service.runtime.decider(name).snapshot.experiment.id
    ahead = minted(SECRET, key, "not asked yet", 0)
    service.post(f"/{name}/rewards", {"rewards": [{"decision": ahead, "reward": 1.0}]})
    time.sleep(0.3)  # final ones are folded


COUNTS = ("decisions", "rewards", "late", "missing", "waiting")
STATUS = (
    "decisions", "mature", "waiting", "parked", "decisions_per_s", "snapshot", "snapshot_age_s",
)  # fmt: skip
LINE = ("exposure", "fair_share", "fair_low", "fair_high", "ratio", "verdict")
MEAN = ("mean", "mean_low", "mean_high")


def test_the_traffic_has_everything(busy: Service) -> None:
    status = busy.api("/songs/status")
    assert all(sum(arm[kind] for arm in status["arms"]) > 5 for kind in COUNTS)
    assert status["parked"] == 1
    assert status["decisions_per_s"] > 0
    assert len(busy.api("/songs/audit")["over_time"]) > 5


def test_an_experiments_numbers_are_those_of_the_api(busy: Service) -> None:
    page = busy.page("/experiments/songs")
    status, audit = busy.api("/songs/status"), busy.api("/songs/audit")
    check(page.of("numbers"), audit, "fairness_regret_per_decision")
    check(page.of("numbers"), status, *STATUS)
    assert len(audit["lines"]) == len(status["arms"]) == 6
    for line, arm in zip(audit["lines"], audit["arms"], strict=True):
        check(page.of("arms", line["arm"]), line, *LINE)
        check(page.of("counts", line["arm"]), arm, *MEAN)
    for counts in status["arms"]:
        check(page.of("counts", counts["arm"]), counts, *COUNTS)
    verdicts = [line["verdict"] for line in audit["lines"]]
    expected = {kind: verdicts.count(kind) for kind in ("under", "over", "fair", "unclear")}
    check(page.of("verdicts"), expected, *expected)
    check(page.of("asof"), {"audit_snapshot": audit["snapshot"], "audited": audit["decisions"]},
          "audit_snapshot", "audited")  # fmt: skip
    assert "always valid" in page.texts["asof"]


def test_the_regret_over_time_is_that_of_the_api(busy: Service) -> None:
    page, audit = busy.page("/experiments/songs"), busy.api("/songs/audit")
    found = page.numbers[("moments",)]
    for field in ("decisions", "fairness_regret_per_decision"):
        shown = [float(number.value) for number in found[field]]
        assert shown == [moment[field] for moment in audit["over_time"]]


def test_what_is_read_is_the_number_rounded(busy: Service) -> None:
    page, seen = busy.page("/experiments/songs"), 0
    for place in page.numbers.values():
        for field, numbers in place.items():
            for value, text in numbers:
                if field in ("verdict", "snapshot_age_s") or value == "":
                    continue
                plain = text.replace(",", "").replace("\N{MINUS SIGN}", "-").removeprefix("<")
                read_as = float(plain.rstrip("%")) / (100 if "%" in plain else 1)
                assert read_as == pytest.approx(float(value), rel=0.006, abs=1e-4), (field, text)
                seen += 1
    assert seen > 100


def test_the_lists_numbers_are_those_of_the_api(busy: Service) -> None:
    page = busy.page("/")
    verdicts = [line["verdict"] for line in busy.api("/songs/audit")["lines"]]
    expected = {kind: verdicts.count(kind) for kind in ("under", "over", "fair", "unclear")}
    shown = ("decisions", "waiting", "decisions_per_s", "snapshot", "snapshot_age_s")
    check(page.of("songs"), busy.api("/songs/status") | expected, *shown, *expected)
    check(page.of("quiet"), busy.api("/quiet/status"), *shown)
    assert "under" not in page.of("quiet")


def test_each_arm_has_a_page_with_the_apis_numbers(busy: Service) -> None:
    status, audit = busy.api("/songs/status"), busy.api("/songs/audit")
    log = pq.read_table(io.BytesIO(busy.client.get("/v1/experiments/songs/export").content))
    mature = [row for row in log.to_pylist() if row["mature"]]
    assert len(mature) == audit["decisions"]
    counts = {each["arm"]: each for each in status["arms"]}
    for line, arm in zip(audit["lines"], audit["arms"], strict=True):
        page = busy.page(arm_link("songs", line["arm"]))
        candidacies = sum(line["arm"] in row["candidates"] for row in mature)
        assert line["shows"] <= candidacies
        expected = line | arm | {"candidacies": candidacies}
        check(page.of("numbers"), expected, "candidacies", "shows", *LINE[:-2], *MEAN)
        check(page.of("counts"), counts[line["arm"]], *COUNTS)
        assert line["arm"] in page.texts["h1"]
        others = "".join(value for key, value in page.texts.items() if key != "nav")
        assert not any(name in others for name in ARMS if name != line["arm"] and len(name) > 2)


def test_links_lead_to_the_arms(busy: Service) -> None:
    page = busy.page("/experiments/songs")
    links = {attrs["href"] or "" for tag, attrs in page.tags if tag == "a"}
    arms = {link for link in links if "/arms/" in link}
    assert len(arms) == 6
    found = {unquote(link.partition("/arms/")[2]).removeprefix("?arm=") for link in arms}
    assert found == set(ARMS)
    for link in links - {"#content"}:
        assert busy.client.get(f"/experiments/songs{link}" if link[0] == "?" else link).is_success


PATHS = ("/", "/experiments/songs", arm_link("songs", SCRIPT), "/experiments/nobody", "/static/x")


@pytest.mark.parametrize("path", PATHS)
def test_nothing_on_a_page_is_alive(busy: Service, path: str) -> None:
    text = busy.client.get(path).text
    assert "<script>alert" not in text
    for tag, attrs in read(text).tags:
        assert "style" not in attrs
        assert tag != "style"
        assert not any(name.startswith("on") for name in attrs)
        source = attrs.get("src") or attrs.get("href") or "/"
        assert source[0] in "/?#"
        assert not source.startswith("//")
        assert tag != "script" or source.startswith("/static/refresh.js?")


@pytest.mark.parametrize("path", [*PATHS, "/static/style.css", "/static/refresh.js"])
def test_headers(busy: Service, path: str) -> None:
    headers = busy.client.get(path).headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    for name in ("default-src", "frame-ancestors", "base-uri", "form-action"):
        assert policy.pop(name) == "'none'"
    assert set(policy.values()) == {"'self'"}
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    kept = "immutable" if path.endswith((".css", ".js")) else "no-store"
    assert kept in headers["cache-control"]


def test_pages_are_packed_for_those_who_can_read_it(busy: Service) -> None:
    plain = busy.client.get("/experiments/songs", headers={"accept-encoding": "identity"})
    packed = busy.client.get("/experiments/songs", headers={"accept-encoding": "br, gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < 0.3 * int(plain.headers["content-length"])
    assert packed.text.partition("<h1>")[2] == plain.text.partition("<h1>")[2]


def test_charts_are_whole(busy: Service) -> None:
    for path in (*PATHS[:3], "/experiments/songs?order=name"):
        text = busy.client.get(path).text
        for svg in re.findall(r"<svg(?:(?!<svg).)*?</svg>", text, re.DOTALL):
            ET.fromstring(svg)
        percents = re.findall(r'(?:x|y|x1|x2|y1|y2|width|height)="([^"]*)%"', text)
        assert all(0 <= float(one) <= 100 for one in percents)
        whole = re.findall(r'<svg[^>]*role="img"[^>]*>\s*<(\w+)', text)
        assert set(whole) == {"title"}
        assert len(whole) >= 1


def test_tables_can_be_read_aloud(busy: Service) -> None:
    for path in PATHS[1:3]:
        page = busy.page(path)
        tags = [tag for tag, _ in page.tags]
        assert tags.count("table") == tags.count("caption") > 0
        assert all(attrs.get("scope") in ("row", "col") for tag, attrs in page.tags if tag == "th")
        assert tags.count("h1") == tags.count("main") == 1


@pytest.mark.parametrize("path", ["/experiments/nobody", "/experiments/songs/arms/nobody",
                                  "/experiments/songs/arms/", "/experiments/no/arms/a", "/static/x"])  # fmt: skip
def test_what_is_not_there_is_a_page_too(busy: Service, path: str) -> None:
    page = busy.page(path, 404)
    assert "does not exist" in page.texts["problem"]


def test_pages_only_read(busy: Service) -> None:
    for path in PATHS[:2]:
        assert busy.client.post(path).status_code == 405
        assert busy.client.head(path).status_code == 200


@pytest.mark.parametrize("order", facts.ORDERS)
def test_orders(busy: Service, order: str) -> None:
    page, lines = busy.page(f"/experiments/songs?order={order}"), busy.api("/songs/audit")["lines"]
    shown = [attrs["data-arm"] for tag, attrs in page.tags if tag == "tr" and "data-arm" in attrs][
        :6
    ]
    keys = {
        "fair": lambda line: -line["fair_share"],
        "exposure": lambda line: -line["exposure"],
        "distance": lambda line: -abs(line["difference"]),
        "name": lambda line: line["arm"],
    }
    assert shown == [line["arm"] for line in sorted(lines, key=keys[order])]


def test_an_order_that_is_none(busy: Service) -> None:
    page = busy.page("/experiments/songs?order=luck", 422)
    assert (
        "order must be one of fair, exposure, distance, name, not 'luck'" in page.texts["problem"]
    )


def test_before_anything_happens(service: Service) -> None:
    assert "No experiment yet" in service.page("/").texts["main"]
    service.post("", {"name": "shop", "arms": ["a", "b"], "policy": FAIR})
    page = service.page("/experiments/shop")
    assert "No traffic yet" in page.texts["main"]
    assert "no decision is mature" in page.texts["reason"]
    assert "no decision is mature" in service.page("/experiments/shop/arms/a").texts["reason"]


def test_before_anything_is_mature(service: Service) -> None:
    service.post("", {"name": "shop", "arms": ["a", "b"], "policy": FAIR})
    service.post("/shop/decide", {"key": "k", "count": 7})
    page = service.page("/experiments/shop")
    assert page.of("numbers")["waiting"] == "7"
    assert "10 min" in page.texts["reason"]
    assert "No traffic yet" not in page.texts["main"]


def test_a_policy_without_merit(service: Service) -> None:
    service.post("", {"name": "shop", "arms": ["a", "b"], "policy": {"kind": "Uniform"}})
    made = service.post("/shop/decide", {"key": "k", "count": 7})["decisions"]
    rewards = [{"decision": one["decision"], "reward": 1.0, "final": True} for one in made]
    service.post("/shop/rewards", {"rewards": rewards})
    service.now[0] += 600.0
    service.settle("shop", 7)
    page = service.page("/experiments/shop")
    assert "policy Uniform has none" in page.texts["reason"]
    assert "no fair share" in page.texts["merit"]
    assert sum(int(page.of("counts", arm)["rewards"]) for arm in "ab") == 7
    assert "policy Uniform has none" in service.page("/experiments/shop/arms/a").texts["reason"]


def test_rewards_outside_of_their_range_leave_a_reason(service: Service) -> None:
    service.post("", {"name": "shop", "arms": ["a"], "policy": FAIR})
    one = service.post("/shop/decide", {"key": "k"})["decision"]
    service.post("/shop/rewards", {"rewards": [{"decision": one, "reward": 5.0, "final": True}]})
    service.now[0] += 600.0
    service.settle("shop", 1)
    assert service.client.get("/v1/experiments/shop/audit").status_code == 422
    assert "from 0 to 1, not 5" in service.page("/experiments/shop").texts["reason"]


def test_slates_have_exposure_by_the_weights_of_their_places(service: Service) -> None:
    service.post("", {"name": "shop", "arms": ["a", "b", "c"], "policy": FAIR})
    for i in range(5):
        service.post("/shop/decide", {"key": f"k{i}", "places": [1.0, 0.25]})
    service.post("/shop/decide", {"key": "single"})
    page = service.page("/experiments/shop")
    for counts in service.api("/shop/status")["arms"]:
        check(page.of("counts", counts["arm"]), counts, *COUNTS, "exposure")
        one = service.page(f"/experiments/shop/arms/{counts['arm']}")
        check(one.of("counts"), counts, *COUNTS, "exposure")
    refused = service.client.get("/v1/experiments/shop/audit")
    assert refused.status_code == 409
    assert "nothing can be audited yet" in refused.json()["error"]["message"]


def slates_of(service: Service, name: str) -> list[pd.DataFrame]:
    """Return the slates of a log, each with all of its places, that are mature at all of them."""
    log = service.client.get(f"/v1/experiments/{name}/export").content
    table = pq.read_table(io.BytesIO(log)).to_pandas()
    return [slate for _, slate in table.groupby("decision") if slate["mature"].all()]


def test_slates_are_audited_by_the_weights_of_their_places(service: Service) -> None:
    """Against sums that are written out from the export."""
    floor = 0.05
    about = {"arms": ["a", "b", "c", "d"], "policy": FAIR, "floor": floor}
    service.post("", {"name": "shop", **about})
    service.post("/shop/decide", {"key": "before", "places": 2})
    rewards = []
    for i in range(30):
        offer = {"candidates": ["c", "a", "b"]} if i % 3 else {}
        asked = {"key": f"k{i}", "places": [1.0, 0.25], **offer}
        service.now[0] += 1
        made = service.post("/shop/decide", asked)
        for placed in made["slate"][: 1 if i >= 25 else 2]:
            about = {"decision": made["decision"], "place": placed["place"]}
            rewards.append({**about, "reward": float(placed["arm"] in "ab"), "final": True})
    one = service.post("/shop/decide", {"key": "single"})["decision"]
    service.post("/shop/rewards", {"rewards": rewards})
    service.post("/shop/rewards", {"rewards": [{"decision": one, "reward": 1.0, "final": True}]})
    service.now[0] += 700
    service.settle("shop", 63)
    audit, slates = service.api("/shop/audit"), slates_of(service, "shop")
    assert audit["decisions"] == len(slates) == 32
    every = pd.concat(slates)
    means = every.groupby("arm")["reward"].mean().to_dict()
    had, earned = dict.fromkeys("abcd", 0.0), dict.fromkeys("abcd", 0.0)
    weight = regret = 0.0
    for slate in slates:
        first, total = slate.iloc[0], slate["weight"].sum()
        target = fair_exposure(Exponential(3.0), [means[arm] for arm in first["candidates"]],
                               np.sort(slate["weight"])[::-1])  # fmt: skip
        fair = floor * total + (1 - floor * len(target)) * target
        for arm, exposure, due in zip(first["candidates"], first["exposures"], fair, strict=True):
            had[arm] += exposure
            earned[arm] += due
        weight += total
        regret += np.abs(first["exposures"] - fair).sum() / total
    assert audit["fairness_regret_per_decision"] == pytest.approx(regret / 32)
    page = service.page("/experiments/shop")
    check(page.of("numbers"), audit, "fairness_regret_per_decision")
    shown = page.numbers[("moments",)]["fairness_regret_per_decision"]
    moments = [moment["fairness_regret_per_decision"] for moment in audit["over_time"]]
    assert len(moments) > 20
    assert [float(number.value) for number in shown] == moments
    assert page.of("asof")["audited"] == "32"
    assert "weight of all places" in page.texts["weighted"]
    for line, mean, low, high in zip(
        audit["lines"], audit["means"], audit["mean_box"]["low"], audit["mean_box"]["high"],
        strict=True,
    ):  # fmt: skip
        arm = line["arm"]
        assert line["exposure"] == pytest.approx(had[arm] / weight)
        assert line["fair_share"] == pytest.approx(earned[arm] / weight)
        assert mean == pytest.approx(means[arm])
        check(page.of("arms", arm), line, "exposure", "fair_share", "fair_low", "fair_high")
        check(page.of("arms", arm), line, "verdict")
        own = service.page(f"/experiments/shop/arms/{arm}")
        check(own.of("numbers"), line, "exposure", "fair_share", "fair_low", "fair_high")
        check(own.of("numbers"), {"mean": mean, "mean_low": low, "mean_high": high}, *MEAN)
        offered = sum(arm in slate["candidates"].iloc[0] for slate in slates)
        assert own.of("numbers")["candidacies"] == str(offered) == str(line["offered"])


@pytest.mark.parametrize(
    ("arms", "places"), [("a", 3), ("ab", [1.0, 0.0]), ("ab", [1e-300, 1e-300]), ("ab", 2)]
)
def test_odd_pages_are_audited(service: Service, arms: str, places: Any) -> None:
    """One arm, fewer arms than places, weights of 0, weights that are hardly any, an arm for each place."""
    service.post("", {"name": "shop", "arms": list(arms), "policy": FAIR})
    for i in range(6):
        service.post("/shop/decide", {"key": str(i), "places": places})
    service.now[0] += 700
    service.settle("shop", 6 * len(arms))
    audit = service.api("/shop/audit")
    assert (audit["decisions"], audit["problems"]) == (6, {})
    assert sum(line["exposure"] for line in audit["lines"]) == pytest.approx(1)
    assert sum(line["fair_share"] for line in audit["lines"]) == pytest.approx(1)
    assert service.page("/experiments/shop").of("asof")["audited"] == "6"


def test_a_slate_counts_if_one_of_its_places_was_shown(service: Service) -> None:
    """What was not shown has no reward, and its slate was shown all the same."""
    about = {"arms": ["a", "b", "c"], "policy": FAIR, "requires_shown": True}
    service.post("", {"name": "shop", **about})
    made = [
        service.post("/shop/decide", {"key": str(i), "places": 2})["decision"] for i in range(9)
    ]
    shown = [{"decision": one, "place": 1} for one in made[:6]]
    service.post("/shop/shown", {"decisions": shown})
    service.now[0] += 700
    service.settle("shop", 18)
    audit = service.api("/shop/audit")
    assert audit["decisions"] == 6
    assert sum(line["shows"] for line in audit["lines"]) == 12


def test_contexts_and_what_must_be_shown(service: Service) -> None:
    policy = {"kind": "FairXLinEG", "merit": FAIR["merit"], "ridge": 1.0, "epsilon": 0.5}
    about = {"dimension": 2, "requires_shown": True, "missing_reward": None, "reward_window_s": 60}
    service.post("", {"name": "news", "arms": ["a", "b", "c"], "policy": policy, **about})
    body = {"candidates": ["a", "b"], "contexts": [[1.0, 0.0], [0.0, 1.0]]}
    made = [service.post("/news/decide", {"key": str(i), **body})["decision"] for i in range(30)]
    service.post("/news/shown", {"decisions": made[:20]})
    rewards = [{"decision": one, "reward": 1.0} for one in made[:5]]
    service.post("/news/rewards", {"rewards": rewards})
    service.now[0] += 100
    service.settle("news", 30)
    page, audit = service.page("/experiments/news"), service.api("/news/audit")
    assert audit["decisions"] == 20
    assert "depend on contexts" in page.texts["main"]
    assert "not on offer" in page.texts["arms"]
    assert "not learned from, if it was shown" in page.texts["main"]
    assert service.page("/experiments/news/arms/a").of("numbers")["candidacies"] == "20"
    assert "Not on offer" in service.page("/experiments/news/arms/c").texts["reason"]


def test_pages_of_a_store_on_postgresql(database_url: str) -> None:
    with started(database_url, Access(open_to_all=True, admin_token=None, rate=1e6)) as service:
        service.post("", {"name": "shop", "arms": ["a", "b", "c"], "policy": FAIR})
        bodies: list[dict[str, Any]] = [
            {"key": "1", "count": 9, "candidates": ["c", "a"]},
            {"key": "2", "count": 5},
        ]
        made = [one for body in bodies for one in service.post("/shop/decide", body)["decisions"]]
        rewards = [{"decision": one["decision"], "reward": 1.0, "final": True} for one in made]
        service.post("/shop/rewards", {"rewards": rewards})
        service.now[0] += 600.0
        service.settle("shop", 14)
        assert service.page("/experiments/shop").of("numbers")["mature"] == "14"
        for arm, candidacies in (("a", "14"), ("b", "5"), ("c", "14")):
            assert (
                service.page(f"/experiments/shop/arms/{arm}").of("numbers")["candidacies"]
                == candidacies
            )


def test_many_arms(service: Service) -> None:
    arms = [f"seller {i}" for i in range(facts.MOST + 20)]
    service.post("", {"name": "shop", "arms": arms, "policy": FAIR})
    made = service.post("/shop/decide", {"key": "k", "count": 200})["decisions"]
    rewards = [{"decision": one["decision"], "reward": 1.0, "final": True} for one in made]
    service.post("/shop/rewards", {"rewards": rewards})
    service.now[0] += 600.0
    service.settle("shop", 200)
    page = service.page("/experiments/shop")
    rows = [key for key in page.numbers if key[0] == "arms"]
    assert len(rows) == facts.MOST
    assert f"All {len(arms)} are in" in page.texts["main"]
    titles = [attrs.get("id") for tag, attrs in page.tags if tag == "title"]
    assert "overview-title" in titles
    farthest = max(service.api("/shop/audit")["lines"], key=lambda line: abs(line["difference"]))
    assert ("arms", farthest["arm"]) in rows


def test_tokens(tmp_path: Path) -> None:
    access = Access(open_to_all=False, admin_token="the administrator's", rate=1e6)
    with started(tmp_path, access) as service:
        admin = {"authorization": "Bearer the administrator's"}
        for name in ("shop", "other"):
            body = {"name": name, "arms": ["a"], "policy": FAIR}
            service.client.post("/v1/experiments", json=body, headers=admin)

        def token(role: str) -> str:
            body = {"name": role, "role": role, "experiment": "shop"}
            found: str = service.client.post("/v1/tokens", json=body, headers=admin).json()["token"]
            return found

        def get(path: str, value: str) -> Any:
            packed = base64.b64encode(f"ann:{value}".encode()).decode()
            return service.client.get(path, headers={"authorization": f"Basic {packed}"})

        reader, writer = token("read"), token("reward")
        for path in ("/", "/experiments/shop", "/experiments/shop/arms/a", "/experiments/nobody"):
            for answer in (service.client.get(path), get(path, "wrong")):
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"].startswith('Basic realm="fairx"')
                assert answer.headers["content-type"].startswith("text/html")
            assert get(path, writer).status_code == 403
        assert service.client.get("/static/style.css").status_code == 200
        for path in ("/experiments/shop", "/experiments/shop/arms/a"):
            assert get(path, reader).status_code == 200
            assert service.client.get(path, headers=admin).status_code == 200
        assert get("/experiments/other", reader).status_code == 403
        assert "other" not in get("/", reader).text
        assert "other" in service.client.get("/", headers=admin).text


def test_a_store_that_cannot_be_reached(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    service.post("", {"name": "shop", "arms": ["a"], "policy": FAIR})

    async def lost(function: Any) -> Any:
        raise Unavailable("the store cannot be reached")

    monkeypatch.setattr(service.runtime, "read", lost)
    answer = service.client.get("/experiments/shop")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"


def test_our_own_mistakes_are_a_page_that_says_nothing(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service.post("", {"name": "shop", "arms": ["a"], "policy": FAIR})

    async def broken(function: Any) -> Any:
        raise KeyError("a secret")

    monkeypatch.setattr(service.runtime, "read", broken)
    answer = service.client.get("/experiments/shop")
    assert answer.status_code == 500
    assert "a secret" not in answer.text
    assert "internal error" in caplog.text


def test_many_viewers_read_the_store_once(service: Service) -> None:
    service.post("", {"name": "shop", "arms": ["a"], "policy": FAIR})
    reads, read_store = [], service.runtime.read

    async def counted(function: Any) -> Any:
        reads.append(function)
        return await read_store(function)

    service.runtime.read = counted  # type: ignore[method-assign]
    begun = time.monotonic()
    for _ in range(20):
        service.page("/experiments/shop")
        service.page("/")
    # The counts and the audit, once in each stretch of time, however many look.
    assert len(reads) <= 2 * (1 + (time.monotonic() - begun) / FRESH)


class _Named(NamedTuple):
    name: str
    id: int


class _Snapshot(NamedTuple):
    experiment: _Named
    version: int = 1


class _Decider(NamedTuple):
    snapshot: _Snapshot


def snapshot(name: str, number: int = 1) -> Any:
    return _Snapshot(_Named(name, number))


def test_kept_is_made_once_for_all_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    made, now = [], [100.0]
    # A clock of its own: on a busy machine any answer takes long, and is kept for as long.
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("fairx.service.cache.time", clock)

    async def make(one: Any) -> int:
        made.append(one.experiment)
        await asyncio.sleep(0)
        now[0] += 0.01
        return len(made)

    async def run() -> None:
        kept: Cache[[], int] = Cache(make, fresh=0.05)
        assert kept.last(snapshot("a")) is None
        asked = [asyncio.create_task(kept.of(snapshot("a"))) for _ in range(9)]
        await asyncio.sleep(0)
        asked.pop().cancel()  # a viewer who leaves
        assert await asyncio.gather(*asked) == [1] * 8
        assert await kept.of(snapshot("a")) == 1
        assert await kept.of(snapshot("a", 2)) == 2  # another experiment of the same name
        now[0] += 0.2  # longer than fresh, and than ten times what it took
        assert kept.last(snapshot("a", 2)) == 2
        assert await kept.of(snapshot("a", 2)) == 3
        kept.forget_others({1})
        assert kept.last(snapshot("a", 2)) is None

    asyncio.run(run())


def test_a_failure_is_not_kept() -> None:
    answers: list[Any] = [KeyError("first"), 7]

    async def make(one: Any) -> int:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return int(found)

    async def run() -> None:
        kept: Cache[[], int] = Cache(make)
        with pytest.raises(KeyError):
            await kept.of(snapshot("a"))
        assert await kept.of(snapshot("a")) == 7

    asyncio.run(run())


def test_questions_are_answered_one_at_a_time_and_the_oldest_forgotten() -> None:
    under_way, most, made = 0, 0, []

    async def make(one: Any, question: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        made.append(question)
        await asyncio.sleep(0.001)
        under_way -= 1
        if question < 0:
            raise KeyError(question)
        return question

    async def run() -> None:
        kept: Cache[[int], int] = Cache(make, fresh=60.0, most=3)
        assert await asyncio.gather(*(kept.of(snapshot("a"), q) for q in (1, 2, 3, 1))) == [
            1,
            2,
            3,
            1,
        ]
        assert (most, made) == (1, [1, 2, 3])
        await asyncio.gather(kept.of(snapshot("a"), 4), kept.of(snapshot("b", 2), 5))
        assert most == 2  # of two experiments, at once
        assert len(kept) == 3
        with pytest.raises(KeyError):
            await kept.of(snapshot("a"), -1)
        assert len(kept) == 2  # to make room; what has no answer is not kept
        made.clear()
        assert await kept.of(snapshot("a"), 1) == 1
        assert made == [1]

    asyncio.run(run())


def test_an_answer_that_is_still_right_is_not_made_again() -> None:
    made = []

    async def make(one: Any) -> int:
        made.append(one)
        return len(made)

    async def run() -> None:
        kept: Cache[[], int] = Cache(
            make, fresh=0.0, still=lambda value, one: one.experiment.name == "a"
        )
        for _ in range(3):
            assert await kept.of(snapshot("a")) == 1
        assert await kept.of(snapshot("b")) == 2

    asyncio.run(run())


def test_a_list_does_not_wait_for_ever_and_leaves_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With time for a few of ten experiments at a look, all are looked at in a few looks."""
    monkeypatch.setattr("fairx.service.dashboard.looks.PATIENCE", 0.05)

    async def slow(one: Any) -> str:
        await asyncio.sleep(0.02)
        return str(one.experiment.name)

    async def run() -> None:
        names = [f"e{i}" for i in range(10)]
        snapshots = [snapshot(name, number) for number, name in enumerate(names)]
        deciders = {one.experiment.name: _Decider(one) for one in snapshots}
        runtime: Any = type("Runtime", (), {"deciders": deciders})()
        looks: Any = Looks(runtime, None)  # type: ignore[arg-type]
        looks.counts, looks.judged = Cache(slow, 0.0), Cache(slow, 0.0)
        for _ in range(40):
            begun = time.monotonic()
            await looks.over(snapshots)
            assert time.monotonic() - begun < 1.0
        assert [looks.counts.last(one) for one in snapshots] == names

    asyncio.run(run())


@given(st.lists(st.floats(1e-9, 1e9), min_size=1))
def test_scales_cover_and_are_not_much_too_long(values: list[float]) -> None:
    scale = charts.from_zero(values)
    assert max(values) <= scale.high * (1 + 1e-6)
    assert scale.high <= 2 * max(values) * (1 + 1e-6)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 7
    assert all(0 <= tick <= scale.high * (1 + 1e-9) for tick in ticks)


@given(
    st.lists(st.tuples(st.integers(0, 50), st.floats(0, 2)), min_size=1, unique_by=lambda p: p[0])
)
def test_stairs_have_a_step_for_each_moment(pairs: list[tuple[int, float]]) -> None:
    moments = [Moment(start, start + 1, 1, value) for start, value in sorted(pairs)]
    path = charts.stairs(moments, charts.time_scale(moments), charts.Scale(0, 2))
    assert path.count("H") == len(moments)
    starts = {moment.start for moment in moments}
    assert path.count("M") == sum(moment.start - 1 not in starts for moment in moments)


@given(st.text(min_size=1, max_size=200))
def test_any_name_has_an_address(name: str) -> None:
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", name):
        return  # the service takes no such names
    path, _, query = (
        arm_link("shop", name).partition("/experiments/shop/arms/")[2].partition("?arm=")
    )
    assert unquote(path or query) == name
    assert path not in (".", "..")
    assert "/" not in path
