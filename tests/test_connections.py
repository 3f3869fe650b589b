"""Hostile connections against the real server: too much around a body, too little for too long.

Each waits for what must come, with a patience that a busy machine can keep, never for seconds.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import PATIENCE, Server, posted, server

pytestmark = pytest.mark.service
MUCH = 105_000_000  # bytes: a header of this size was taken
MANY = 300  # half-open requests: all of them stayed
ROOM = 32  # MiB that the server may need for any of this
PIECE = b"x" * 60_000
LINE = b"X-Much: " + PIECE + b"\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/experiments/shop/decide HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
LONG = POST + b"Content-Length: 100\r\n\r\n"
# Limits of time are for people: a test of them cannot wait for as long.
HASTE = """
import fairx.service.connections as connections
connections.SENT_IN = connections.TAKEN_IN = 1.0
"""
# Tells how often what is there was set aside from the garbage collector.
FREEZES = """
import gc, pathlib
def freeze(freeze=gc.freeze):
    freeze()
    with pathlib.Path(__file__).with_name("freezes").open("a") as file:
        file.write("x")
gc.freeze = freeze
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from _serving(tmp_path_factory.mktemp("patient"), FREEZES)


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from _serving(tmp_path_factory.mktemp("hasty"), HASTE)


def _serving(folder: Path, customised: str) -> Iterator[Server]:
    (folder / "sitecustomize.py").write_text(customised)
    path = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with server(folder, "--no-auth", PYTHONPATH=path) as found:
        yield found


def _connected(running: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE)


def _until_closed(client: socket.socket) -> bytes:
    """Return all that comes until the server closes; it never doing so is a TimeoutError."""
    found = b""
    try:
        while part := client.recv(65_536):
            found += part
    except (ConnectionResetError, BrokenPipeError):
        pass
    return found


def _count(running: Server, gauge: str) -> float:
    page = httpx.get(running.url + "/metrics", timeout=PATIENCE).text
    (found,) = re.findall(rf"^{gauge} (\S+)$", page, re.MULTILINE)
    return float(found)


def _wait_for(running: Server, gauge: str, most: float) -> None:
    end = time.monotonic() + PATIENCE
    while _count(running, gauge) > most:
        assert time.monotonic() < end, f"{gauge} stays above {most}"


def _peak(running: Server) -> int:
    """Return the most memory that the server ever held, in MiB."""
    status = Path(f"/proc/{running.process}/status").read_text()
    (found,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(found) // 1024


def _poured(client: socket.socket, start: bytes, piece: bytes) -> tuple[int, bytes]:
    """Send without end; return how much was taken before the server closed, and what it said."""
    sent = 0
    try:
        client.sendall(start)
        while sent < MUCH:
            sent += client.send(piece)
    except (ConnectionResetError, BrokenPipeError):
        pass
    return sent, _until_closed(client)


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (GET + b"X-Much: ", PIECE), (GET, LINE), (GET, PIECE), (b"GET /", PIECE), (b"", b"G" * 60_000),
        (CHUNKED + b"0\r\n", LINE), (CHUNKED + b"0\r\nX-Much: ", PIECE), (CHUNKED + b"2;", PIECE),
    ],
    ids=["header", "headers", "name", "path", "method", "trailers", "trailer", "chunk extension"],
)  # fmt: skip
def test_a_header_of_105_megabytes_is_refused(running: Server, start: bytes, piece: bytes) -> None:
    before = _peak(running)
    with _connected(running) as client:
        sent, said = _poured(client, start, piece)
    assert sent < MUCH // 4  # what was on its way when the server closed: buffers of the system
    assert not said or said.startswith((b"HTTP/1.1 400", b"HTTP/1.1 404"))
    assert _peak(running) - before < ROOM
    assert httpx.get(running.url + "/healthz", timeout=PATIENCE).is_success


@pytest.mark.parametrize("length", [b"Content-Length: 200000000\r\n\r\n", None])
def test_a_body_of_105_megabytes_is_refused(running: Server, length: bytes | None) -> None:
    before, create = _peak(running), POST.replace(b"/shop/decide", b"")
    chunk = b"%x\r\n%b\r\n" % (len(PIECE), PIECE)
    start = create + (length or b"Transfer-Encoding: chunked\r\n\r\n")
    with _connected(running) as client:
        client.sendall(start)
        for _ in range(MUCH // len(PIECE)):
            client.sendall(PIECE if length else chunk)
        assert client.recv(1000).startswith(b"HTTP/1.1 413")
    assert _peak(running) - before < ROOM


def test_what_follows_a_body_is_no_header(running: Server) -> None:
    """Of a request in chunks: here an id that its answer would have."""
    for field, found in ((b"X-Request-Id: mine\r\n", b""), (b"", b"X-Request-Id: mine\r\n")):
        asked = GET + b"Connection: close\r\nTransfer-Encoding: chunked\r\n" + found
        with _connected(running) as client:
            client.sendall(asked + b"\r\n2\r\n{}\r\n0\r\n" + field + b"\r\n")
            said = _until_closed(client)
        assert said.startswith(b"HTTP/1.1 200")
        assert (b"x-request-id: mine" in said) is bool(found)


@pytest.mark.parametrize(
    "start", [b"", b"G", b"GET /healthz HT", GET, GET + b"X-Half: ", LONG, LONG + b"{", CHUNKED + b"2\r\n{"]
)  # fmt: skip
def test_of_300_half_open_requests_none_stays(hasty: Server, start: bytes) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(_connected(hasty)) for _ in range(MANY)]
        for client in clients:
            client.sendall(start)
        assert httpx.get(hasty.url + "/healthz", timeout=PATIENCE).is_success  # others are served
        for client in clients:
            _until_closed(client)
    _wait_for(hasty, "fairx_connections", 1)  # the one that asks
    assert _count(hasty, "fairx_requests_at_once") == 0


@pytest.mark.parametrize("start", [b"", GET + b"X-Slow: ", LONG, CHUNKED + b"ffff\r\n"])
def test_what_comes_byte_by_byte_is_given_up(hasty: Server, start: bytes) -> None:
    """However long it goes on: of the limit, each byte is not a new beginning."""
    sent = 0
    with _connected(hasty) as client:
        client.sendall(start)
        client.settimeout(0.02)
        while True:
            try:
                sent += client.send(b"G")
                if not client.recv(1000):
                    break
            except TimeoutError:
                assert sent < PATIENCE / 0.02, "it is still open"
            except (ConnectionResetError, BrokenPipeError):
                break
    assert sent > 1
    _wait_for(hasty, "fairx_connections", 1)


def test_a_connection_that_was_answered_and_is_idle_is_closed(running: Server) -> None:
    with ExitStack() as stack:
        clients = [stack.enter_context(_connected(running)) for _ in range(20)]
        for client in clients:
            client.sendall(GET + b"\r\n")
        for client in clients:
            assert _until_closed(client).startswith(b"HTTP/1.1 200")
    _wait_for(running, "fairx_connections", 1)


@pytest.mark.parametrize("asked", [GET + b"\r\n", POST + b"Content-Length: 2\r\n\r\n{}"])
def test_an_empty_line_after_an_answer_does_not_keep_a_connection(
    hasty: Server, asked: bytes
) -> None:
    """Some clients send one after a body; it began no request, and ended the wait for the next."""
    with _connected(hasty) as client:
        client.sendall(asked)
        assert client.recv(65_536).startswith(b"HTTP/1.1 ")
        client.sendall(b"\r\n")
        _until_closed(client)


def test_a_client_that_does_not_take_its_answer_is_given_up(hasty: Server) -> None:
    """Its answers are more than the system's buffers hold, all asked for at once."""
    asked = GET.replace(b"/healthz", b"/openapi.json") + b"\r\n"
    with ExitStack() as stack:
        for _ in range(5):
            client = stack.enter_context(_connected(hasty))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(asked * 600)
        _wait_for(hasty, "fairx_connections", 1)
        assert _count(hasty, "fairx_requests_at_once") == 0


def test_a_request_in_many_parts_is_answered(running: Server) -> None:
    body = json.dumps({"name": "none"}).encode()
    head = POST.replace(b"/shop/decide", b"") + b"Connection: close\r\n"
    whole = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with _connected(running) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for i in range(0, len(whole), 30):
            client.sendall(whole[i : i + 30])
        assert _until_closed(client).startswith(b"HTTP/1.1 422")


def test_what_was_compiled_is_set_aside_from_the_garbage_collector(running: Server) -> None:
    """It is 90,000 objects: to look through them again and again stopped the service for 60 ms."""
    freezes = running.log.with_name("freezes")
    before = len(freezes.read_text())
    policy: dict[str, Any] = {"kind": "FairXEG", "epsilon": 0.1}
    policy["merit"] = {"kind": "Exponential", "steepness": 3.0}
    posted(running.url + "/v1/experiments", {"name": "set", "arms": ["a", "b"], "policy": policy})
    posted(running.url + "/v1/experiments/set/decide", {"key": "k"})
    assert len(freezes.read_text()) > before >= 1
