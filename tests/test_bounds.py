"""What one request, one connection and many of them may cost."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import LINEAR, E, Service, failure, serving
from serving import Server, server

from fairx.command import main
from fairx.service.limits import Limits
from fairx.store.sqlite import SQLite

# One request.


def test_the_product_of_what_is_asked_for_is_bounded(tmp_path: Path) -> None:
    """Each of count, candidates and dimension is in its own limits."""
    rows = [[0.5] * 5] * 10
    with serving(tmp_path / "store.db", Limits(numbers=1000)) as service:
        service.create(arms=[f"a{i}" for i in range(10)], policy=LINEAR, dimension=5)
        service.create("plain", arms=[f"a{i}" for i in range(10)])
        for name, body, found in (
            ("shop", {"key": "k", "count": 21, "contexts": rows}, 1050),
            ("plain", {"key": "k", "count": 101}, 1010),
        ):
            message, field = failure(
                service.ask("POST", f"{E}/{name}/decide", body), 422, "invalid"
            )
            assert field == "count"
            assert f"dimension at most 1000, not {found}: see --limit-numbers" in message
        assert len(service.decide("k", count=20, contexts=rows)["decisions"]) == 20
        assert len(service.decide("k", "plain", count=100)["decisions"]) == 100
    assert Limits().numbers == 1_000_000


# Many requests.


def test_what_is_too_much_at_once_is_refused_at_once(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(at_once=8)) as service:
        service.create()
        statuses = service.runner.run(_many(service, 40))
        assert statuses.count(200) >= 8
        assert statuses.count(503) >= 1
        assert set(statuses) == {200, 503}
        assert service.decide("after")["snapshot"] == 1
        assert service.get(f"{E}/shop/status")["decisions"] == statuses.count(200) + 1


async def _many(service: Service, count: int) -> list[int]:
    async def one(i: int) -> int:
        answer = await service._ask("POST", f"{E}/shop/decide", {"key": f"k{i}"}, None, {})
        if answer.status_code == 503:
            assert answer.headers["retry-after"] == "1"
            assert failure(answer, 503, "overloaded")
        return answer.status_code

    return await asyncio.gather(*(one(i) for i in range(count)))


def test_health_is_answered_when_all_else_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(at_once=1)) as service:
        service.runtime.load.at_work = 1
        failure(service.ask("GET", E), 503, "overloaded")
        assert service.ask("GET", "/healthz").is_success
        assert service.ask("GET", "/readyz").is_success


# Arms.


def test_removed_arms_do_not_count_against_the_limit_and_come_back(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(arms=10)) as service:
        service.create(arms=[f"0-{i}" for i in range(10)])
        for day in range(1, 4):
            old, new = ([f"{each}-{i}" for i in range(10)] for each in (day - 1, day))
            service.post(f"{E}/shop/arms", {"add": new, "remove": old})
        found = service.post(f"{E}/shop/arms", {"add": ["0-0"], "remove": ["3-0"]})
        active = {arm["name"] for arm in found["arms"] if arm["status"] == "active"}
        assert active == {"0-0", *(f"3-{i}" for i in range(1, 10))}
        answer = service.ask("POST", f"{E}/shop/arms", {"add": ["more"]})
        message, _ = failure(answer, 422, "invalid")
        assert "at most 10, not 11" in message


# Connections.


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # The limit of time is for people; a test cannot wait for as long.
    folder = tmp_path_factory.mktemp("bounds")
    (folder / "sitecustomize.py").write_text(
        "import fairx.service.connections as c\nc.SENT_IN = 1.0\n"
    )
    path = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with server(folder, "--no-auth", PYTHONPATH=path) as found:
        yield found


def _connected(running: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", running.port), timeout=20)


@pytest.mark.service
def test_headers_have_a_limit(running: Server) -> None:
    with _connected(running) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        sent = 0
        try:
            while sent < 20_000_000:
                sent += client.send(b"X-Much: " + b"x" * 60_000 + b"\r\n")
            answer = client.recv(1000)
        except OSError:
            answer = b""
        assert sent < 20_000_000 or answer.startswith(b"HTTP/1.1 400")


@pytest.mark.service
@pytest.mark.parametrize(
    "start", [b"", b"GET /healthz HT", b"POST /v1/experiments HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"]
)  # fmt: skip
def test_what_is_half_sent_is_given_up(running: Server, start: bytes) -> None:
    clients = [_connected(running) for _ in range(50)]
    begun = time.monotonic()
    for client in clients:
        client.sendall(start)
    for client in clients:
        try:
            while client.recv(1000):
                pass
        except ConnectionResetError:
            pass
        client.close()
    assert time.monotonic() - begun < 10


@pytest.mark.service
def test_a_request_in_many_parts_is_answered(running: Server) -> None:
    body = json.dumps({"name": "none"}).encode()
    whole = b"POST /v1/experiments HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body  # fmt: skip
    with _connected(running) as client:
        for i in range(0, len(whole), 30):
            client.sendall(whole[i : i + 30])
            time.sleep(0.01)
        assert client.recv(1000).startswith(b"HTTP/1.1 422")


# Starting.


def test_a_port_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--port", "99999"]) == 1
    assert "--port must be from 0 to 65,535, not 99999" in capsys.readouterr().err


def test_a_link_does_not_evade_the_lock(tmp_path: Path) -> None:
    first = SQLite(tmp_path / "store.db", write=True)
    (tmp_path / "link.db").symlink_to("store.db")
    with pytest.raises(OSError, match="in use by process"):
        SQLite(tmp_path / "link.db", write=True)
    first.close()
