"""Too much is asked: what is refused is refused unread, and what is repeated is not done again."""

from __future__ import annotations

import asyncio
import functools
import gc
import http.client
import io
import json
from pathlib import Path
from typing import Any

import httptools
import uvicorn
from asking import E, Service, serving
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState

from fairx.service.connections import Bounded
from fairx.service.failures import Reply
from fairx.service.futures import Pending
from fairx.service.load import FEW, LONG, Load
from fairx.service.observing import ID
from fairx.service.remembering import Answers, key_of
from fairx.service.shedding import is_one_request
from fairx.service.straight import answer

PLAIN = b"POST /v1/experiments/shop/decide HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"


class Parsed:
    """What a real parser makes of data."""

    def __init__(self, data: bytes) -> None:
        self.complete = 0
        parser = httptools.HttpRequestParser(self)
        parser.feed_data(data)
        self.keeps_alive = parser.should_keep_alive()

    def on_message_complete(self) -> None:
        self.complete += 1


HEADERS = st.sampled_from([
    b"Content-Length: 2", b"content-length:2", b"CONTENT-LENGTH:  0", b"content-length: 02", b"content-length: +2",
    b"content-length: 2, 2", b"transfer-encoding: chunked", b"Transfer-Encoding : chunked", b"connection: close", b"host: a",
    b"Expect: 100-continue", b"x: content-length: 5", b" folded: 1", b"upgrade: h2c", b"content-length : 2", b"connection:close",
])  # fmt: skip


@given(
    st.sampled_from([b"POST / HTTP/1.1", b"post / http/1.1", b"POST / HTTP/1.0", b"GET / HTTP/1.1"]),
    st.lists(HEADERS, max_size=4),
    st.sampled_from([b"", b"{}", b"{}x", b"2\r\n{}\r\n0\r\n\r\n", PLAIN]),
)  # fmt: skip
def test_what_is_taken_for_one_request_is_one(
    line: bytes, headers: list[bytes], body: bytes
) -> None:
    data = b"\r\n".join([line, *headers, b"", body])
    if not is_one_request(data):
        return
    try:
        found = Parsed(data)
    except httptools.HttpParserError:
        return  # it would have been refused in other words, and the connection closed
    assert found.complete == 1
    assert found.keeps_alive


def test_plain_requests_are_taken_for_one() -> None:
    assert is_one_request(PLAIN)
    assert is_one_request(PLAIN.replace(b"content-length: 2", b"Content-Length:2"))
    assert not is_one_request(PLAIN + PLAIN)
    assert not is_one_request(PLAIN[:-1])


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.wrote = b""

    def write(self, data: Any) -> None:
        self.wrote += data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def _read(data: bytes) -> http.client.HTTPResponse:
    """Return an answer as a client reads it."""

    class Socket:
        def makefile(self, *_: object) -> io.BytesIO:
            return io.BytesIO(data)

    answer = http.client.HTTPResponse(Socket())  # type: ignore[arg-type]
    answer.begin()
    return answer


def test_a_full_service_refuses_before_it_reads_and_goes_on_afterwards() -> None:
    asked = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["path"])
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def play() -> None:
        config = uvicorn.Config(application, log_config=None)
        config.load()
        load, transport = Load(1), Transport()
        connection = Bounded(load, config=config, server_state=ServerState(), app_state={})
        connection.connection_made(transport)
        load.at_work = 1
        connection.data_received(PLAIN)
        answer = _read(transport.wrote)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert b"overloaded" in answer.read()
        assert (load.shed, asked) == (1, [])
        load.at_work, transport.wrote = 0, b""
        connection.data_received(PLAIN)
        await asyncio.sleep(0.01)
        assert asked == ["/v1/experiments/shop/decide"]
        assert _read(transport.wrote).status == 204
        connection.connection_lost(None)

    asyncio.run(play())


def _played(data: bytes, *, asgi: bool = False, paused: bool = False) -> bytes:
    """Return what a connection writes, of an application that answers straight away or ASGI's way."""
    transport = Transport()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        scope[ID] = "one"
        await receive()
        await answer(scope, send, Reply(200, b'{"arm": "a"}', ((b"x-own", b"1"),) if asgi else ()))

    async def play() -> None:
        config = uvicorn.Config(application, log_config=None, access_log=False)
        config.load()
        load, state = Load(9), ServerState()
        state.default_headers = [(b"date", b"today")]
        connection = Bounded(load, config=config, server_state=state, app_state={})
        connection.connection_made(transport)
        if paused:
            connection.pause_writing()
        connection.data_received(data)
        await asyncio.sleep(0.01)
        if paused:
            assert transport.wrote == b""
            connection.resume_writing()
            await asyncio.sleep(0.01)
        assert state.total_requests == data.count(b"POST")
        connection.connection_lost(None)

    asyncio.run(play())
    return transport.wrote


def test_an_answer_in_one_piece_is_that_of_asgi() -> None:
    straight, asgi = (_read(_played(PLAIN, asgi=each)) for each in (False, True))
    assert straight.headers["x-request-id"] == "one"
    assert {*straight.headers.items(), ("x-own", "1")} == {*asgi.headers.items()}
    assert (straight.status, straight.read()) == (asgi.status, asgi.read())


def test_answers_in_one_piece_keep_the_order_of_requests_and_wait_for_slow_clients() -> None:
    found = _played(PLAIN + PLAIN)
    assert found.count(b"HTTP/1.1 200 OK") == found.count(b'{"arm": "a"}') == 2
    assert _read(_played(PLAIN, paused=True)).read() == b'{"arm": "a"}'
    closed = _read(_played(PLAIN.replace(b"host: a", b"connection: close")))
    assert closed.headers["connection"] == "close"


def test_of_many_that_come_together_only_so_many_are_let_in() -> None:
    async def play() -> None:
        load, loop = Load(2), asyncio.get_running_loop()
        for _ in range(2):
            assert not load.is_full
            load.let_in(loop)
        then = load.is_full
        await asyncio.sleep(0.01)  # they would have begun by now
        assert (then, load.is_full) == (True, False)

    asyncio.run(play())


def test_nothing_new_comes_in_while_one_has_waited_long_unless_there_are_few() -> None:
    now = [0.0]
    load = Load(1000, lambda: now[0])
    load.begin(1)
    found = []
    for at_work, elapsed in ((FEW, 0.9), (FEW, 1.1), (FEW - 1, 1.1)):
        load.at_work, now[0] = at_work, elapsed * LONG
        found.append(load.is_full)
    load.begin(2)
    load.end(1)
    load.at_work = FEW
    assert [*found, load.is_full] == [False, True, False, False]


class Held:
    """Somebody who waits for what comes when it is told to."""

    def __init__(self) -> None:
        self.waits, self.go = asyncio.Event(), asyncio.Event()

    async def until(self, value: Any) -> Any:
        """Return a value, later."""
        self.waits.set()
        await self.go.wait()
        return value


async def _is_full_while(service: Service, held: Held, path: str, receive: Any) -> bool:
    """Tell whether a service refuses what is new while a request, and a few more, have waited for long."""
    load, now, sent = service.runtime.load, [0.0], list[Any]()
    load._clock = lambda: now[0]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": []}

    async def send(message: Any) -> None:
        sent.append(message)

    asked = asyncio.ensure_future(service.application(scope, receive, send))
    await asyncio.wait_for(held.waits.wait(), 60)
    load.at_work, now[0] = load.at_work + FEW, 2 * LONG
    found = load.is_full
    load.at_work -= FEW
    held.go.set()
    await asyncio.wait_for(asked, 60)
    assert sent[0]["status"] == 200
    assert (load.at_work, load._begun) == (0, {})
    return found


def test_what_is_still_on_its_way_has_nobody_refused(tmp_path: Path) -> None:
    """70 requests whose bodies did not come had the service refuse all others for 20 s."""
    with serving(tmp_path / "store.db") as service:
        service.create()
        part = {"experiment": "shop", "route": "decide", "body": {"key": "b"}}
        for path, body in (
            (f"{E}/shop/decide", {"key": "a"}),
            ("/v1/batch", {"requests": [part]}),
        ):
            held = Held()
            whole = {"type": "http.request", "body": json.dumps(body).encode()}
            receive = functools.partial(held.until, whole)
            assert not service.runner.run(_is_full_while(service, held, path, receive))


def test_a_batch_that_waits_for_long_is_waited_for(tmp_path: Path) -> None:
    """300 clients with batches had each other wait, and one with a single decision, for 3 to 6 s."""
    with serving(tmp_path / "store.db") as service:
        service.create()
        held, write = Held(), service.runtime.write

        async def later(kind: str, asked: Any) -> Any:
            return await held.until(await write(kind, asked))

        service.runtime.write = later  # type: ignore[method-assign, assignment]
        part = {"experiment": "shop", "route": "decide", "body": {"key": "a"}}
        body = json.dumps({"requests": [part]}).encode()

        async def receive() -> Any:
            return {"type": "http.request", "body": body}

        assert service.runner.run(_is_full_while(service, held, "/v1/batch", receive))


def test_what_is_asked_again_is_neither_made_nor_written_again(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create()
        asks: list[dict[str, Any]] = [{}, {"count": 3}, {"places": 2}, {"probabilities": True}]
        first = [service.decide(f"k{i}", **asked) for i, asked in enumerate(asks)]
        service.post(f"{E}/shop/pause")
        service.runtime.write = _not_asked  # type: ignore[method-assign, assignment]
        service.runtime.read = _not_asked  # type: ignore[method-assign, assignment]
        again = [service.decide(f"k{i}", **asked) for i, asked in enumerate(asks)]
        assert again == first
        assert b'fairx_repeated_total{experiment="shop"} 6.0' in service.runtime.metrics.page()


def _not_asked(*_: object) -> None:
    raise AssertionError


def test_an_answer_is_of_its_experiment_and_forgotten_when_the_store_was_lost(
    tmp_path: Path,
) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create()
        first = service.decide("k")
        assert service.ask("DELETE", f"{E}/shop").status_code == 204
        service.create()
        assert service.decide("k") != first
        assert _kept(service) > 0
        service.runtime.answers.clear()
        assert service.decide("k")["decision"] != first["decision"]


def test_what_comes_and_goes_with_requests_does_not_grow_old() -> None:
    """Thousands of objects that stay a while had the garbage collector stop the service, for 60 ms."""

    async def play() -> None:
        pending, loop = Pending(), asyncio.get_running_loop()
        futures = [loop.create_future() for _ in range(3)]
        for future in futures:
            pending.add(future, loop.time())
        pending.settle([(futures[0], 1), (futures[1], ValueError("no"))])
        assert (len(pending), futures[0].result(), futures[2].done()) == (1, 1, False)
        assert str(futures[1].exception()) == "no"

    asyncio.run(play())
    answers = Answers()
    answers.keep(key_of(1, b"asked"), (bytes(9), 1))
    gc.collect()  # a plain tuple of what has no references is let go of here
    assert len(answers) == 1
    kept = [each for item in answers._newer.items() for each in item]
    assert not [each for each in kept if gc.is_tracked(each)]


def _kept(service: Service) -> int:
    return len(service.runtime.answers)
