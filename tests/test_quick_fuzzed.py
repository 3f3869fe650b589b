"""Decisions past ASGI, attacked: whatever comes, in whatever pieces, is answered as by ASGI's way."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from asking import ROOT, E, Service, serving
from hypothesis import given, settings
from hypothesis import strategies as st
from test_quick import Client, Transport

from fairx.service.limits import Limits

WAITS = 4_000  # rounds of a busy machine
TOKENS: dict[str, str] = {}  # by role


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    path = tmp_path_factory.mktemp("fuzzed") / "store.db"
    with serving(path, Limits(body_bytes=2_000, candidates=5), auth=True) as service:
        service.create()
        service.create("still", ["a", "b"])
        service.post(f"{E}/still/pause")
        service.decide("first")  # it is compiled by now
        service.post(f"{E}/shop/arms", {"add": ["d"], "pause": ["c"]})
        for role, experiment in (("decide", "shop"), ("reward", "shop"), ("decide", "still")):
            about = {"name": role, "role": role, "experiment": experiment}
            TOKENS[f"{role} {experiment}"] = service.post("/v1/tokens", about)["token"]
        yield service


LINES = st.sampled_from([
    *["POST {E}/shop/decide HTTP/1.1"] * 60,
    "POST {E}/shop/decide HTTP/1.0", "POST {E}/shop/decide http/1.1", "POST {E}/shop/decide HTTP/2.0",
    "post {E}/shop/decide HTTP/1.1", "PUT {E}/shop/decide HTTP/1.1", "GET {E}/shop/decide HTTP/1.1",
    "POST {E}/shop/decide/ HTTP/1.1", "POST {E}/shop/decide? HTTP/1.1", "POST {E}/shop/decide?a=1 HTTP/1.1",
    "POST {E}/shop/decide#a HTTP/1.1", "POST {E}/sh%6fp/decide HTTP/1.1", "POST {E}//decide HTTP/1.1",
    "POST {E}/../experiments/shop/decide HTTP/1.1", "POST http://localhost{E}/shop/decide HTTP/1.1",
    "POST {E}/still/decide HTTP/1.1", "POST {E}/none/decide HTTP/1.1", "POST {E}/SHOP/decide HTTP/1.1",
    "POST {E}/shop/shown HTTP/1.1", "POST {E}/shop/rewards HTTP/1.1", "POST  {E}/shop/decide HTTP/1.1",
    "POST {E}/shop/decide\tHTTP/1.1", "\r\nPOST {E}/shop/decide HTTP/1.1", "POST {E}/shop/decide",
    "POST {E}/shop/decide HTTP/1.1\r", "POST {E}/shop/dec\x00ide HTTP/1.1", "GET /healthz HTTP/1.1",
])  # fmt: skip
HEADERS = st.sampled_from([
    "host: localhost", "Host: elsewhere", "host:", "origin: https://elsewhere", "origin: http://localhost",
    "authorization: Bearer {none}", "AUTHORIZATION: bearer {decide shop}", "authorization:  Bearer  {root} ",
    "authorization: Bearer {reward shop}", "authorization: Bearer {decide still}", "authorization: Basic OnRlc3Q=",
    "authorization: B\xe9arer x", "connection: close", "Connection: Keep-Alive", "connection: keep-alive, close",
    "connection: upgrade", "upgrade: h2c", "upgrade: websocket", "expect: 100-continue", "Expect: nothing",
    "transfer-encoding: chunked", "Transfer-Encoding: identity", "transfer-encoding: gzip, chunked",
    "content-length: 3", "Content-Length: {length}", "content-length : 3", "x: a\r\n b", "x: a\r\n content-length: 3",
    "x: a\r\n\ttransfer-encoding: chunked", "content-type: text/plain", "content-encoding: gzip",
    "x-request-id: mine", "x-request-id: two words", "X-Request-Id: other", "x-request-id:", "x: " + "y" * 1_500,
    "x y: 1", ": 1", "x", "x: \x01", "x: a\nauthorization: Bearer {root}", "x: a\rcontent-length: 3", "\r",
    "trailer: x", "te: trailers", "x-http-method-override: GET", "forwarded: host=elsewhere",
])  # fmt: skip
LENGTHS = st.sampled_from([
    *["content-length: {length}"] * 60, "Content-Length:{length}", "content-length: 0{length}",
    "content-length: +{length}", "content-length: {length}, {length}", "content-length: {length}\r\n 1",
    "content-length: {length} ", "content-length: \x0b{length}", "content-length: -1", "content-length:",
    "content-length: {length}\r\ncontent-length: {length}", "content-length: 99999999999999999999", "",
    "content-length: {longer}", "content-length: {shorter}",
])  # fmt: skip
BODIES = st.sampled_from([
    *['{{"key": "{key}"}}'] * 4, '{{"key": "{key}", "unit": "u"}}', '{{"key": "{key}", "candidates": ["a", "b"]}}',
    '{{"key": "{key}", "candidates": ["b", "a"]}}', '{{"key": "{key}", "candidates": ["a", "c"]}}',
    '{{"key": "{key}", "candidates": []}}', '{{"key": "{key}", "candidates": ["a", "a"]}}',
    '{{"key": "{key}", "candidates": ["a", "b", "d", "a", "b", "d"]}}', '{{"key": "{key}", "candidates": "a"}}',
    '{{"key": "{key}", "key": "{key} twice"}}', '{{"key": "{key}", "count": 1}}', '{{"key": "{key}", "count": 0}}',
    '{{"key": "{key}", "count": 1e3}}', '{{"key": "{key}", "places": [1, 0.5]}}', '{{"key": "{key}", "places": 0}}',
    '{{"key": "{key}", "probabilities": true}}', '{{"key": "{key}", "probabilities": 1}}', '{{"key": 1}}',
    '{{"key": "{key}", "contexts": [[NaN]]}}', '{{"key": "{key}", "contexts": [[1e999]]}}',
    '{{"key": "{key}", "contexts": [[1], [1, 2]]}}', '{{"key": "{key}", "contexts": {{}}}}', '{{"key": null}}',
    '{{"key": "{key}", "contexts": []}}', '{{"key": "{key}", "unit": ""}}', '{{"key": ""}}', "{{}}", "[]", "", " ",
    '{{"key": "{key}\\u0000"}}', '{{"key": "{key}\\ud800"}}', '{{"key": "{key}\\n"}}', '{{"key": "{key}"}} ',
    '{{"key": "{key}"}}x', '\ufeff{{"key": "{key}"}}', '{{"key": "{key}", "extra": 1}}', "null", "1e999",
    '{{"key": "{key}", "contexts": ' + "[" * 900 + "]" * 900 + "}}", '{{"key": "' + "k" * 201 + '"}}',
    '{{"key": "{key}", "contexts": {{"a": ' + "[" * 900 + "]" * 900 + "}}}}", '{{"key": "' + "k" * 3_000 + '"}}',
    "POST {E}/shop/decide HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n",
    '0\r\n\r\n', '1\r\n{{\r\n0\r\n\r\n',
])  # fmt: skip
REQUESTS = st.tuples(
    LINES, st.just([]) | st.lists(HEADERS, max_size=2), st.sampled_from([True] * 9 + [False]),
    LENGTHS, BODIES, st.integers(0, 2),
)  # fmt: skip


def whole(about: tuple[str, list[str], bool, str, str, int], number: str) -> bytes:
    """Return one request, whose key nobody but this connection uses."""
    line, headers, known, length, body, key = about
    content = body.format(key=f"{number} {key}", E=E).encode()
    names = {
        "E": E, "length": len(content), "longer": len(content) + 5, "shorter": max(len(content) - 5, 0),
        "root": ROOT, "none": "fairx_none_0", **TOKENS,
    }  # fmt: skip
    token = ["authorization: Bearer {root}"] if known else []
    lines = [line, "host: localhost", *token, *headers, *([length] if length else [])]
    filled = [re.sub(r"{([\w ]+)}", lambda found: str(names[found[1]]), each) for each in lines]
    return "\r\n".join([*filled, "", ""]).encode("latin-1") + content


class Wire(Transport):
    """A transport that takes nothing more once it is closed, as real ones."""

    def write(self, data: Any) -> None:
        if not self.closed:
            super().write(data)

    def abort(self) -> None:
        self.closed = True


class Sent:
    """What came back on a connection to which some bytes were sent in pieces."""

    def __init__(self, service: Service, quick: bool) -> None:
        self.service, self.client = service, Client(service, quick=quick)
        self.transport = self.client.inner.transport = self.client.inner.flow._transport = Wire()

    async def settle(self) -> None:
        """Wait until nothing is being answered, or what is waits for more."""
        for _ in range(WAITS):
            cycle = self.client.inner.cycle
            if self.transport.closed or cycle is None or cycle.response_complete:
                return
            if cycle.more_body and not self.client.inner.pipeline:
                await asyncio.sleep(0.002)
                return
            await asyncio.sleep(0.001)
        raise TimeoutError(self.transport.wrote)

    async def send(self, pieces: list[bytes], waits: bool) -> tuple[list[Any], bool]:
        for piece in pieces:
            if self.transport.closed:
                break
            self.client.connection.data_received(piece)
            if waits:
                await self.settle()
        await self.settle()
        found = answers(self.transport.wrote), self.transport.closed
        self.client.close()
        for _ in range(WAITS):  # what is on its way is written, whoever is gone
            if not self.client.state.tasks and not self.service.runtime.load.at_work:
                break
            await asyncio.sleep(0.001)
        return found


def answers(wrote: bytes) -> list[Any]:
    """Return the answers: status, headers but new ids, body."""
    found = []
    while wrote:
        head, _, rest = wrote.partition(b"\r\n\r\n")
        line, *headers = head.split(b"\r\n")
        named = dict(each.split(b": ", 1) for each in headers)
        length = int(named.get(b"content-length", b"0"))
        if re.fullmatch(rb"[0-9a-f]{16}", named.get(b"x-request-id", b"")):
            named[b"x-request-id"] = b"new"
        body = re.sub(rb"\bway-\w+|[0-9a-f]{64}", b"", rest[:length])
        if line.endswith(b" 200 OK"):  # which arm, and how likely, is another with another key
            named.pop(b"content-length", None)
            body = re.sub(rb'"(decision|arm|propensity)":[^,}]+', b"", body)
            body = re.sub(rb'"(probabilities|slate)":[^}]+', b"", body)
        found.append((line, named, body))
        wrote = rest[length:]
    return found


def counted(service: Service) -> dict[str, float]:
    """Return what was counted of failures and durations."""
    page = service.runtime.metrics.page().decode()
    pattern = r"^(fairx_(?:failures|decide_seconds_count)\S*) (\S+)$"
    return {name: float(value) for name, value in re.findall(pattern, page, re.MULTILINE)}


INVALID = b"Invalid HTTP request received."
NUMBERS = iter(range(10**9))


@settings(max_examples=250, deadline=None)
@given(
    asked=st.lists(REQUESTS, min_size=1, max_size=4), cuts=st.lists(st.floats(0, 1), max_size=4),
    apart=st.booleans(), waits=st.booleans(), first=st.booleans(),
)  # fmt: skip
def test_the_same_bytes_have_the_same_answers(
    shop: Service, asked: list[Any], cuts: list[float], apart: bool, waits: bool, first: bool
) -> None:
    number = next(NUMBERS)

    async def play() -> dict[bool, Any]:
        found = {}
        for quick in (first, not first):
            requests = [whole(each, f"way-{quick:d}x{number}") for each in asked]
            pieces = requests if apart else cut(b"".join(requests), cuts)
            before = counted(shop)
            told = await Sent(shop, quick).send(pieces, waits)
            after = counted(shop)
            found[quick] = *told, {name: after[name] - before.get(name, 0) for name in after}
            assert (shop.runtime.load.at_work, shop.runtime.load._begun) == (0, {})
        return found

    found = shop.runner.run(play())
    # What cannot be read is refused at once, before an answer that is on its way, or after one that is out.
    if waits or not any(INVALID in each[2] for told in found.values() for each in told[0]):
        assert found[True] == found[False]


def cut(data: bytes, where: list[float]) -> list[bytes]:
    places = sorted({0, len(data), *(int(each * len(data)) for each in where)})
    return [data[a:b] for a, b in itertools.pairwise(places)]


class Slow(Wire):
    """Notes how many requests wait in line whenever more is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads, self.line, self.seen = True, list[Any](), list[int]()

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True
        self.seen.append(len(self.line))


@pytest.mark.parametrize("quick", [True, False])
def test_no_more_is_read_while_requests_wait_in_line(shop: Service, quick: bool) -> None:
    """Each answer had the next 256 KB read: 44 MB of requests in one line took 1 GB."""
    asked = whole(
        ("POST {E}/shop/decide HTTP/1.1", [], True, "content-length: {length}", "{{}}", 0), ""
    )

    async def play() -> None:
        sent = Sent(shop, quick)
        sent.transport = sent.client.inner.transport = sent.client.inner.flow._transport = slow = (
            Slow()
        )
        slow.line = sent.client.inner.pipeline
        found, _ = await sent.send([asked, asked * 20], waits=False)
        assert len(found) == 21
        assert slow.seen == [0]  # read on once, when all had been begun
        assert slow.reads

    shop.runner.run(play())
