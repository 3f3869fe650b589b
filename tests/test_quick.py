"""Decisions past uvicorn and ASGI: word for word the answers of that way, and the same promises."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from asking import LINEAR, ROOT, SECRET, E, Service, serving
from uvicorn.server import ServerState

from fairx.service import heads
from fairx.service.app import Application
from fairx.service.connections import Bounded
from fairx.service.heads import MOST, Heads
from fairx.service.limits import Limits
from fairx.service.observing import Observer, request_id
from fairx.service.writing import Writing
from fairx.store import located
from fairx.store.decisions import Recorded
from fairx.store.errors import Unavailable
from fairx.store.verified import Verified
from fairx.store.verifying import verify

PATH = f"{E}/shop/decide"
HOST = "host: localhost"


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.wrote, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.wrote += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Client:
    """A connection to a service, made in its event loop."""

    def __init__(self, service: Service, *, quick: bool = True) -> None:
        self.service, self.transport, self.state = service, Transport(), ServerState()
        self.state.default_headers = [(b"date", b"today")]
        config = uvicorn.Config(service.application, log_config=None, access_log=False)
        config.load()
        self.connection = Bounded(
            service.runtime.load, service.application.quick if quick else None,
            config=config, server_state=self.state, app_state={},
        )  # fmt: skip
        self.connection.connection_made(self.transport)

    @property
    def inner(self) -> Any:
        return self.connection._inner

    async def answer(self, data: bytes) -> bytes:
        """Send a request and return what comes back."""
        self.transport.wrote = b""
        self.connection.data_received(data)
        return await self.told()

    async def told(self, answers: int = 1) -> bytes:
        """Wait for answers."""
        for _ in range(2_000):
            if self.transport.wrote.count(b"HTTP/1.1 ") == answers:
                return self.transport.wrote
            await asyncio.sleep(0.005)
        raise TimeoutError(self.transport.wrote)

    def close(self) -> None:
        self.connection.connection_lost(None)


def request(body: Any, *headers: str, path: str = PATH, host: str = HOST) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = (f"POST {path} HTTP/1.1", host, *headers, f"content-length: {len(content)}", "", "")
    return "\r\n".join(lines).encode() + content


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("quick") / "store.db") as service:
        service.create()
        service.create("still", ["a", "b"])
        service.post(f"{E}/still/pause")
        service.create("page", ["a", "b"], policy=LINEAR, dimension=2)
        for name, more in (("shop", {}), ("page", {"contexts": [[1, 2], [3, 4]]})):
            service.decide("first", name, **more)  # it is compiled by now
        service.post(f"{E}/shop/arms", {"add": ["d"], "pause": ["c"]})
        yield service


# Each request, by which way it goes (True: past ASGI), and its status.
ASKED: dict[str, tuple[Any, bool, int]] = {
    "plain": ({"key": "k"}, True, 200),
    "candidates, a unit": ({"key": "k", "candidates": ["a", "b"], "unit": "u"}, True, 200),
    "one is left out": ({"key": "k", "candidates": ["a", "c"]}, True, 200),
    "malformed": (b'{"key"', True, 400),
    "no key": ({}, True, 422),
    "unknown field": ({"key": "k", "kee": 1}, True, 422),
    "too many letters": ({"key": "k" * 201}, True, 422),
    "too many candidates": ({"key": "k", "candidates": ["a"] * 1001}, True, 422),
    "several": ({"key": "k", "count": 2}, False, 200),
    "a slate": ({"key": "k", "places": 2}, False, 200),
    "probabilities": ({"key": "k", "probabilities": True}, False, 200),
    "several, in other letters": (b'{"key": "k", "\\u0063ount": 2}', False, 200),
    "an arm that is not there": ({"key": "k", "candidates": ["z"]}, False, 422),
    "all are paused": ({"key": "k", "candidates": ["c"]}, False, 409),
    "contexts": ({"key": "k", "contexts": [[1.0]]}, False, 422),
}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("first", [True, False])
def test_answers_are_those_of_asgi(shop: Service, name: str, first: bool) -> None:
    """Whoever asks first, and the other one finds on record what that one wrote."""
    body, taken, status = ASKED[name]
    key = f"{name}, {first}"[:20]
    if not isinstance(body, bytes):
        body = {n: key + v[1:] if n == "key" else v for n, v in body.items()}
    else:
        body = body.replace(b'"k"', json.dumps(key).encode())
    data = request(body, "x-request-id: mine")

    async def play() -> dict[bool, bytes]:
        found: dict[bool, bytes] = {}
        for quick in (first, not first):
            shop.runtime.answers.clear()
            client = Client(shop, quick=quick)
            found[quick] = await client.answer(data)
            assert (type(client.inner.cycle).__module__ == "fairx.service.cycles") is (
                quick and taken
            )
            assert client.state.total_requests == 1
            client.close()
        return found

    found = shop.runner.run(play())
    assert found[True].startswith(b"HTTP/1.1 %d " % status)
    assert _parts(found[True]) == _parts(found[False])
    assert (shop.runtime.load.at_once, shop.runtime.load._begun) == (0, {})


def _parts(answer: bytes) -> tuple[bytes, frozenset[bytes], bytes]:
    """Return the first line, the headers in no order, and the body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    line, *headers = head.split(b"\r\n")
    return line, frozenset(headers), body


def test_contexts_are_taken_and_the_log_is_verified(shop: Service) -> None:
    body = {"key": "c", "contexts": [[1.0, 0.5], [0.0, -1.0]]}

    async def play() -> bytes:
        client = Client(shop)
        found = await client.answer(request(body, path=f"{E}/page/decide"))
        assert type(client.inner.cycle).__module__ == "fairx.service.cycles"
        client.close()
        return found

    found = json.loads(_parts(shop.runner.run(play()))[2])
    shop.runtime.answers.clear()
    assert shop.decide("c", "page", contexts=body["contexts"]) == found
    seen = shop.get(f"{E}/page/decisions/{found['decision']}")
    assert (seen["arm"], seen["contexts"]) == (found["arm"], body["contexts"])


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (request({"key": "k"}, path=f"{E}/nothing/decide"), 404),
        (request({"key": "k"}, path=f"{E}/still/decide"), 409),
        (request({"key": "k"}, path=PATH + "?a=1"), 422),
        (request({"key": "k"}, "origin: https://elsewhere"), 403),
        (request({"key": "k"}, "connection: close"), 200),
        (request({"key": "k"}).replace(b"HTTP/1.1", b"HTTP/1.0"), 200),
        (request({"key": "k" * Limits().body_bytes}), 413),
    ],
    ids=["no experiment", "paused", "query", "another site", "close", "old HTTP", "too long"],
)
def test_what_is_not_plain_goes_asgis_way(shop: Service, data: bytes, status: int) -> None:
    async def play() -> bytes:
        client = Client(shop)
        found = await client.answer(data)
        assert type(client.inner.cycle).__module__ != "fairx.service.cycles"
        client.close()
        return found

    assert shop.runner.run(play()).startswith(b"HTTP/1.1 %d " % status)


def test_who_asks_is_asked_each_time(tmp_path: Path) -> None:
    """A head is read once, what its token may do is looked up again and again."""
    with serving(tmp_path / "store.db", Limits(rate=20), auth=True) as service:
        service.create()
        service.decide("first")
        tokens = [
            service.post("/v1/tokens", {"name": "t", "role": role})
            for role in ("decide", "reward", "decide")
        ]
        datas = [
            request({"key": f"k{i}"}, f"authorization: Bearer {token}")
            for i, token in enumerate([*(each["token"] for each in tokens), "none", ROOT])
        ]

        async def play(*asked: bytes) -> list[int]:
            client, found = Client(service), []
            for data in asked:
                answer = await client.answer(data)
                found.append(int(answer.split()[1]))
            client.close()
            return found

        assert service.runner.run(play(*datas)) == [200, 403, 200, 401, 200]
        assert service.ask("DELETE", f"/v1/tokens/{tokens[0]['id']}").status_code == 204
        service.runtime.answers.clear()
        assert service.runner.run(play(datas[0])) == [401]
        many = service.runner.run(play(*[datas[2]] * 500))  # it would have to take 24 s
        assert {*many} == {200, 429}
        assert many.count(200) >= 19


def test_what_goes_both_ways_counts_once(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        service.decide("first")
        asked: list[dict[str, Any]] = [{}, {"count": 2}, {"candidates": ["z"]}, {"places": 1}]
        counted = 0

        def admit(*about: Any, admit: Any = service.runtime.access.admit) -> Any:
            nonlocal counted
            counted += 1
            return admit(*about)

        service.runtime.access.admit = admit  # type: ignore[method-assign, assignment]

        async def play() -> None:
            client = Client(service)
            for number, more in enumerate(asked):
                body = {"key": f"k{number}", **more}
                await client.answer(request(body, f"authorization: Bearer {ROOT}"))
            client.close()

        service.runner.run(play())
        assert counted == len(asked)


def test_another_host_is_refused(shop: Service) -> None:
    application = Application(shop.runtime, hosts=["localhost"])
    assert application.quick is not None
    known = application.quick.heads
    assert known.of(request({"key": "k"})) is not None
    assert known.of(request({"key": "k"}, host="host: evil.example")) is None


@pytest.mark.parametrize("kinds", [{"log": True}, {"tracer": lambda scope, number: None}])
def test_where_requests_are_logged_or_traced_all_go_asgis_way(
    shop: Service, kinds: dict[str, Any]
) -> None:
    assert Application(shop.runtime, observer=Observer(**kinds)).quick is None


class Held:
    """Keeps what is asked to be written, until it is told."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.jobs: list[tuple[Any, Any]] = []
        monkeypatch.setattr(
            service.runtime, "submit", lambda kind, asked, done: self.jobs.append((asked, done))
        )

    def tell(self) -> None:
        for (made, _), done in self.jobs:
            done.set_result(Recorded(made, False))


@pytest.mark.parametrize("fails", [False, True])
def test_answers_keep_the_order_of_requests(
    shop: Service, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    held = Held(shop, monkeypatch)

    async def play() -> bytes:
        client = Client(shop)
        client.connection.data_received(request({"key": f"one {fails}"}, "x-request-id: one"))
        client.connection.data_received(
            b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-request-id: two\r\n\r\n"
        )
        await asyncio.sleep(0.02)
        assert client.transport.wrote == b""
        if fails:
            held.jobs[0][1].set_exception(Unavailable("the store is away"))
        else:
            held.tell()
        found = await client.told(2)
        assert (client.state.total_requests, shop.runtime.load.at_once) == (2, 0)
        client.close()
        return found

    assert re.findall(rb"x-request-id: (\w+)", shop.runner.run(play())) == [b"one", b"two"]


def test_a_server_that_stops_answers_what_was_asked(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(shop, monkeypatch)

    async def play() -> None:
        client = Client(shop)
        client.connection.data_received(request({"key": "stop"}))
        client.inner.shutdown()
        assert not client.transport.closed
        held.tell()
        assert b"\r\nconnection: close\r\n" in client.transport.wrote
        assert client.transport.closed

    shop.runner.run(play())


def test_a_client_that_went_away_is_not_answered(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(shop, monkeypatch)

    async def play() -> None:
        client = Client(shop)
        client.connection.data_received(request({"key": "gone"}))
        assert shop.runtime.load.at_once == 1
        client.close()
        held.tell()
        assert client.transport.wrote == b""
        assert shop.runtime.load.at_once == 0

    shop.runner.run(play())


def test_what_goes_wrong_while_it_is_written_is_answered_and_logged(
    shop: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    held = Held(shop, monkeypatch)
    errors: list[Exception] = [Unavailable("the store is away"), AssertionError("our mistake")]

    async def play() -> list[bytes]:
        found = []
        for number, error in enumerate(errors):
            client = Client(shop)
            data = request({"key": f"wrong {number}"}, f"x-request-id: wrong-{number}")
            client.connection.data_received(data)
            held.jobs.pop()[1].set_exception(error)
            assert request_id.get() == f"wrong-{number}"  # which lines of the log have
            found.append(client.transport.wrote)
        return found

    with caplog.at_level(logging.WARNING, "fairx"):
        away, mistake = shop.runner.run(play())
    assert away.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nretry-after: 1\r\n" in away
    assert mistake.startswith(b"HTTP/1.1 500 ")
    assert {"store unavailable", "internal error"} <= {each.message for each in caplog.records}
    assert shop.runtime.load.at_once == 0


def test_asked_again_after_a_new_snapshot_it_is_the_same(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create(reward_window_s=1.0)
        service.decide("first")

        async def play() -> bytes:
            client = Client(service)
            found = await client.answer(request({"key": "k"}))
            client.close()
            return _parts(found)[2]

        first = service.runner.run(play())
        before = service.runtime.decider("shop").snapshot.version
        service.later(2.0)
        service.post(f"{E}/shop/arms", {"remove": [json.loads(first)["arm"]]})
        assert service.runtime.decider("shop").snapshot.version > before
        assert len(service.runtime.answers) == 2
        again = service.runner.run(play())  # it is kept
        service.runtime.answers.clear()
        assert service.runner.run(play()) == again == first
        repeated = b'fairx_repeated_total{experiment="shop"} 2.0'
        assert repeated in service.runtime.metrics.page()
    found = _verified(tmp_path / "store.db")
    assert (found.decisions, found.problems, found.sealed) == (2, (), True)


def _verified(path: Path) -> Verified:
    database = located(f"sqlite:///{path}").reader()
    try:
        return verify(database, SECRET)
    finally:
        database.close()


def test_arms_of_another_snapshot_are_looked_up(
    shop: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(shop, monkeypatch)

    async def play() -> bytes:
        client = Client(shop)
        client.connection.data_received(request({"key": "elsewhere"}))
        (made, _), done = held.jobs[0]
        done.set_result(Recorded(made._replace(snapshot=made.snapshot + 1), True))
        assert client.transport.wrote == b""  # the store is asked first
        assert len(client.state.tasks) == 1
        found = await client.told()
        client.close()
        return found

    assert json.loads(_parts(shop.runner.run(play()))[2])["arm"] in "abd"


def test_a_full_service_refuses_heads_that_it_knows(shop: Service) -> None:
    async def play() -> None:
        client, data = Client(shop), request({"key": "full"})
        await client.answer(data)
        shop.runtime.load.at_work += shop.runtime.limits.at_once
        try:
            assert (await client.answer(data)).startswith(b"HTTP/1.1 503 ")
        finally:
            shop.runtime.load.at_work -= shop.runtime.limits.at_once
        assert (await client.answer(data)).startswith(b"HTTP/1.1 200 ")
        client.close()

    shop.runner.run(play())


def test_a_head_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    parsed = heads._Read

    def reading(data: bytes) -> heads._Read:
        read.append(data)
        return parsed(data)

    monkeypatch.setattr(heads, "_Read", reading)
    known = Heads(None)
    for key in ("a", "b"):
        data = request({"key": key}, "Authorization: Bearer t")
        assert known.of(data) == ("shop", b"Bearer t", None, data.index(b"{"), len(data))
        assert known.has(data)
    assert len(read) == 1
    assert known.of(data + b" ") is None  # more than one request
    assert known.of(data[:-1]) is None
    assert not known.has(data[:-1])
    for number in range(MOST + 1):
        known.of(request({"key": "a"}, f"x: {number}"))
    assert len(known._known) <= MOST
    known._known.clear()
    known.of(request({"key": "a"}, "x-request-id: one"))
    known.of(request({"key": "a"}, f"x: {'y' * 1_000}"))
    assert not known._known


def test_what_a_round_asks_for_goes_to_the_writer_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[int] = []

    class Writer:
        def submit_all(self, jobs: list[Any]) -> None:
            handed.append(len(jobs))

    async def play() -> None:
        monkeypatch.setattr("fairx.service.writing.Writer", lambda *_: Writer())
        writing = Writing(lambda: pytest.fail("no store"), asyncio.get_running_loop())
        for _ in range(3):
            writing.write("other", None)
        assert handed == []
        await asyncio.sleep(0)
        writing.write("other", None)
        await asyncio.sleep(0)

    asyncio.run(play())
    assert handed == [3, 1]
