"""Operating the service: ids of requests, traces, measures, tokens that end, batches, workers."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking import LINEAR, E, Service, failure, serving
from conftest import imported
from serving import Server

from fairx.service.json_lines import JsonLines
from fairx.service.limits import Limits
from fairx.service.observing import Observer
from fairx.store.errors import Unavailable

BATCH = "/v1/batch"


# Ids of requests.


@pytest.mark.parametrize("path", [f"{E}/shop/decide", E, "/healthz", "/nothing"])
def test_each_answer_has_an_id_which_is_the_clients_where_it_sent_one(
    tmp_path: Path, path: str
) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create()
        method = "POST" if path.endswith("decide") else "GET"
        own = service.ask(method, path, {"key": "k"}, headers={"X-Request-Id": "checkout-7"})
        assert own.headers["x-request-id"] == "checkout-7"
        made = [service.ask(method, path, {"key": "k"}).headers["x-request-id"] for _ in range(2)]
        assert len(set(made)) == 2
        odd = service.ask(method, path, {"key": "k"}, headers={"X-Request-Id": "a b\tc"})
        assert odd.headers["x-request-id"] not in ("checkout-7", "a b\tc")


def test_the_log_has_the_id_and_on_demand_each_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    kept = Kept()
    kept.setFormatter(JsonLines())
    logger = logging.getLogger("fairx")
    logger.addHandler(kept)
    try:
        with caplog.at_level(logging.INFO, "fairx"), serving(tmp_path / "store.db") as service:
            service.application._observer = Observer(log=True)
            service.create()
            service.ask("POST", f"{E}/shop/decide", {"key": "k"}, headers={"X-Request-Id": "one"})
            service.runtime.write = _lost  # type: ignore[method-assign, assignment]
            service.ask("POST", f"{E}/shop/decide", {"key": "l"}, headers={"X-Request-Id": "two"})
    finally:
        logger.removeHandler(kept)
    found = [json.loads(line) for line in lines]
    one = next(line for line in found if line.get("request_id") == "one")
    assert (one["event"], one["path"], one["status"]) == ("request", f"{E}/shop/decide", 200)
    assert 0 < one["seconds"] < 60
    assert "store unavailable" in {
        line["event"] for line in found if line.get("request_id") == "two"
    }


def _lost(*_: object) -> None:
    raise Unavailable("the store is away")


# Traces.


def test_requests_are_spans_with_what_came_of_them(tmp_path: Path) -> None:
    trace = imported("opentelemetry.sdk.trace", "pip install 'fairx[tracing]'")
    export = imported("opentelemetry.sdk.trace.export", "pip install 'fairx[tracing]'")
    memory = imported(
        "opentelemetry.sdk.trace.export.in_memory_span_exporter", "pip install 'fairx[tracing]'"
    ).InMemorySpanExporter()
    from fairx.service.tracing import tracer

    provider = trace.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with serving(tmp_path / "store.db") as service:
        service.application._observer = Observer(tracer=tracer(provider))
        service.create()
        headers = {"traceparent": parent, "X-Request-Id": "one"}
        service.ask("POST", f"{E}/shop/decide", {"key": "k"}, headers=headers)
        service.runtime.write = _lost  # type: ignore[method-assign, assignment]
        service.ask("POST", f"{E}/shop/decide", {"key": "l"})
    _, decided, failed = memory.get_finished_spans()
    assert decided.name == "POST /v1/experiments/{name}/decide"
    assert f"{decided.context.trace_id:032x}" == parent.split("-")[1]
    assert f"{decided.parent.span_id:016x}" == parent.split("-")[2]
    assert decided.attributes["http.response.status_code"] == 200
    assert decided.attributes["fairx.request_id"] == "one"
    assert decided.status.is_unset
    assert failed.attributes["http.response.status_code"] == 503
    assert not failed.status.is_ok
    assert failed.context.trace_id != decided.context.trace_id


# Measures.


def _measures(service: Service) -> dict[str, float]:
    page = service.ask("GET", "/metrics").text
    lines = [line.rpartition(" ") for line in page.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_measures_of_folding_queue_and_disk(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create(reward_window_s=10.0)
        service.decide("k")
        lag = 'fairx_fold_lag_seconds{experiment="shop"}'
        service.now += 9
        assert _measures(service)[lag] == 0.0
        service.now += 4
        found = _measures(service)
        assert found[lag] == 3.0
        assert found["fairx_store_bytes"] >= (tmp_path / "store.db").stat().st_size
        assert found["fairx_disk_free_bytes"] > 0
        assert found["fairx_requests_at_once"] == 0  # this one is answered all the same
        service.later(0)
        assert _measures(service)[lag] == 0.0
        service.runtime.load.at_work = service.runtime.limits.at_once
        failure(service.ask("GET", E), 503, "overloaded")
        assert _measures(service)["fairx_shed"] == 1


def test_measures_are_given_when_the_store_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create()

        async def read(*_: object) -> None:
            raise Unavailable("it is away")

        monkeypatch.setattr(service.runtime, "read", read)
        assert "fairx_write_queue" in _measures(service)


# Tokens.


def test_a_token_expires(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        asked = {"name": "site", "role": "decide", "lifetime_s": 60}
        made = service.post("/v1/tokens", asked)
        assert made["expires"] == service.now + 60
        service.now += 59
        service.decide("k")
        assert service.ask("POST", f"{E}/shop/decide", {"key": "k"}, token=made["token"]).is_success
        service.now += 1
        answer = service.ask("POST", f"{E}/shop/decide", {"key": "k"}, token=made["token"])
        assert "expired" in failure(answer, 401, "unauthorized")[0]
        (listed,) = service.get("/v1/tokens")["tokens"]
        assert (listed["expires"], "token" in listed) == (made["expires"], False)


def test_a_token_is_replaced_and_the_old_one_works_for_a_while(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        old = service.post("/v1/tokens", {"name": "site", "role": "decide", "experiment": "shop"})
        new = service.post(f"/v1/tokens/{old['id']}/rotate", {"grace_s": 30})
        assert new["id"] != old["id"]
        assert [new[each] for each in ("name", "role", "experiment")] == ["site", "decide", "shop"]
        service.now += 29
        for each in (old, new):
            assert service.ask(
                "POST", f"{E}/shop/decide", {"key": "k"}, token=each["token"]
            ).is_success
        service.now += 1
        answers = [
            service.ask("POST", f"{E}/shop/decide", {"key": "k"}, token=each["token"]).status_code
            for each in (old, new)
        ]
        assert answers == [401, 200]
        assert service.get("/v1/actions")["actions"][0]["action"] == "rotate token"
        failure(service.ask("POST", "/v1/tokens/none/rotate", {}), 404, "not_found")
        once = service.post(f"/v1/tokens/{new['id']}/rotate", {"grace_s": 10, "lifetime_s": 5})
        service.post(f"/v1/tokens/{new['id']}/rotate", {"grace_s": 1000})  # not later than it would
        service.now += 10
        for each in (new, once):
            answer = service.ask("POST", f"{E}/shop/decide", {"key": "k"}, token=each["token"])
            assert answer.status_code == 401


# Batches.


def test_a_batch_is_answered_as_each_alone(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db") as service:
        service.create()
        service.create("other", policy=LINEAR, dimension=1)
        first = service.decide("before")
        reward = {"rewards": [{"decision": first["decision"], "reward": 1.0}]}
        parts = [
            ("shop", "decide", {"key": "a"}),
            ("other", "decide", {"key": "a", "candidates": ["a", "b"], "contexts": [[1.0], [2.0]]}),
            ("shop", "rewards", reward),
            ("shop", "shown", {"decisions": [first["decision"]]}),
            ("nothing", "decide", {"key": "a"}),
            ("shop", "decide", {"key": 7}),
            ("shop", "decide", {"key": "b", "places": 2}),
        ]
        asked = [{"experiment": e, "route": route, "body": body} for e, route, body in parts]
        found = service.post(BATCH, {"requests": asked})["answers"]
        assert [each["status"] for each in found] == [200, 200, 200, 200, 404, 422, 200]
        assert found[2]["body"]["results"][0]["status"] == "accepted"
        assert found[5]["body"]["error"]["field"] == "key"
        for (name, route, body), answer in zip(parts, found, strict=True):
            alone = service.ask("POST", f"{E}/{name}/{route}", body)
            assert alone.status_code == answer["status"]
            if route == "decide":
                assert alone.json() == answer["body"]


def test_a_batch_has_the_limits_of_one_request(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", Limits(numbers=100, events=50)) as service:
        service.create()
        one = {"experiment": "shop", "route": "decide", "body": {"key": "a", "count": 10}}
        for asked in ([one] * 4, [one] * 51):
            answer = service.ask("POST", BATCH, {"requests": asked})
            assert failure(answer, 422, "invalid")[1] == "requests"
        assert len(service.post(BATCH, {"requests": [one] * 3})["answers"]) == 3
        failure(service.ask("POST", BATCH, {"requests": []}), 422, "invalid")


def test_a_batch_has_as_many_events_as_one_request(tmp_path: Path) -> None:
    """82 kB asked for 990,000 decisions: 36 s, in which others waited for 21 s."""
    with serving(tmp_path / "store.db", Limits(events=50)) as service:
        service.create(policy={"kind": "Uniform"})
        first = service.decide("first")["decision"]
        bodies: dict[str, list[Any]] = {
            "decide": [{"key": "a", "count": 30}, {"key": "b", "count": 30.0}],
            "shown": [{"decisions": [first] * 30}] * 2,
            "rewards": [{"rewards": [{"decision": first, "reward": 1.0}] * 30}] * 2,
        }
        for route, both in bodies.items():
            parts = [{"experiment": "shop", "route": route, "body": body} for body in both]
            message, field = failure(
                service.ask("POST", BATCH, {"requests": parts}), 422, "invalid"
            )
            assert "at most 50, not 60: see --limit-events" in message
            assert field == "requests"
            (alone,) = service.post(BATCH, {"requests": parts[:1]})["answers"]
            assert alone["status"] == 200
        odd = {"experiment": "shop", "route": "decide", "body": {"key": "c", "count": -9}}
        answers = service.post(BATCH, {"requests": [odd] * 50})["answers"]
        assert {each["status"] for each in answers} == {422}


def test_each_part_of_a_batch_needs_its_role(tmp_path: Path) -> None:
    with serving(tmp_path / "store.db", auth=True) as service:
        service.create()
        first = service.decide("k")
        token = service.post("/v1/tokens", {"name": "n", "role": "decide"})["token"]
        reward = {"rewards": [{"decision": first["decision"], "reward": 1.0}]}
        asked = [
            {"experiment": "shop", "route": "decide", "body": {"key": "k"}},
            {"experiment": "shop", "route": "rewards", "body": reward},
        ]
        found = service.post(BATCH, {"requests": asked}, token=token)["answers"]
        assert [each["status"] for each in found] == [200, 403]
        answer = service.ask("POST", BATCH, {"requests": asked}, token="fairx_0_0")
        failure(answer, 401, "unauthorized")


# Workers.


def test_workers_share_an_address_and_one_that_dies_is_replaced(
    database_url: str, tmp_path: Path
) -> None:
    running = Server(
        database_url, tmp_path / "log", "--workers", "2", "--no-auth", "--access-log",
        FAIRX_SECRET="s" * 32,
    )  # fmt: skip
    running.start()
    try:
        body = {"name": "shop", "arms": ["a", "b"], "policy": LINEAR, "dimension": 1}
        assert httpx.post(running.url + E, json=body, timeout=60).is_success
        first = _decided(running.url, "k")
        workers = _workers(running)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        assert [_decided(running.url, "k") for _ in range(5)] == [first] * 5
        end = time.monotonic() + 60
        while len(_workers(running)) < 2 or workers[0] in _workers(running):
            assert time.monotonic() < end
            time.sleep(0.1)
    finally:
        assert running.stop() == 0
    assert "a worker ended" in running.log.read_text()


def test_workers_do_not_outlive_who_started_them(database_url: str, tmp_path: Path) -> None:
    """They answered on, and a new start could not have their address."""
    options = ("--workers", "2", "--no-auth")
    running = Server(database_url, tmp_path / "log", *options, FAIRX_SECRET="s" * 32)
    running.start()
    workers = _workers(running)
    assert len(workers) == 2
    running.kill()
    end = time.monotonic() + 60
    while any(Path(f"/proc/{each}/cmdline").exists() for each in workers):
        assert time.monotonic() < end
        time.sleep(0.1)
    running.start()
    assert running.stop() == 0


def _workers(running: Server) -> list[int]:
    assert running._process is not None
    children = Path(f"/proc/{running._process.pid}/task/{running._process.pid}/children")
    found = [int(each) for each in children.read_text().split()]
    return [each for each in found if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]


def _decided(url: str, key: str) -> Any:
    body = {"key": key, "candidates": ["a", "b"], "contexts": [[1.0], [2.0]]}
    end = time.monotonic() + 60
    while True:
        try:
            answer = httpx.post(f"{url}{E}/shop/decide", json=body, timeout=60)
            if answer.status_code != 503:
                return answer.raise_for_status().json()
        except httpx.TransportError:  # the worker that had the connection was killed
            pass
        assert time.monotonic() < end


def test_workers_need_postgresql(tmp_path: Path) -> None:
    running = Server(f"sqlite:///{tmp_path}/store.db", tmp_path / "log", "--workers", "2")
    running.start(wait=False)
    assert running.ended() == 1
    assert "--workers must be 1 with SQLite" in running.log.read_text()
