"""Traces of a real service arrive at a collector; without one it serves, and stops, all the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking import POLICY, E
from conftest import imported
from postgres_cluster import free_port
from serving import PATIENCE, posted, server

pytestmark = pytest.mark.service
NEEDED = "pip install 'fairx[tracing]'"
SHOP = {"name": "shop", "arms": ["a", "b"], "policy": POLICY, "reward_window_s": 60}


@contextmanager
def collector() -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Take what is sent by OTLP over HTTP; what came, by the name of its service."""
    sent = imported("opentelemetry.proto.collector.trace.v1.trace_service_pb2", NEEDED)
    found: dict[str, list[Any]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            for each in sent.ExportTraceServiceRequest.FromString(body).resource_spans:
                about = {a.key: a.value.string_value for a in each.resource.attributes}
                spans = found.setdefault(about["service.name"], [])
                spans += [span for scope in each.scope_spans for span in scope.spans]
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", found
        running.shutdown()


@pytest.mark.parametrize("name", ["fairx", "front page"])
def test_traces_arrive_at_a_collector(tmp_path: Path, name: str) -> None:
    given = {} if name == "fairx" else {"OTEL_SERVICE_NAME": name}
    with collector() as (address, found):
        options = ("--traces", "--no-auth")
        with server(tmp_path, *options, OTEL_EXPORTER_OTLP_ENDPOINT=address, **given) as running:
            posted(f"{running.url}{E}", SHOP)
            posted(f"{running.url}{E}/shop/decide", {"key": "k"})
        # What waited was sent before it ended.
        names = [span.name for span in found[name]]
    assert "POST /v1/experiments/{name}/decide" in names
    assert set(found) == {name}


def test_without_a_collector_it_serves_and_stops(tmp_path: Path) -> None:
    imported("opentelemetry.exporter.otlp.proto.http", NEEDED)
    nobody = f"http://127.0.0.1:{free_port()}"
    with server(
        tmp_path, "--traces", "--no-auth",
        OTEL_EXPORTER_OTLP_ENDPOINT=nobody, OTEL_BSP_SCHEDULE_DELAY="50",
    ) as running:  # fmt: skip
        posted(f"{running.url}{E}", SHOP)
        end = time.monotonic() + PATIENCE
        while "exporting spans" not in running.log.read_text():  # it was tried, in vain
            assert time.monotonic() < end
            time.sleep(0.1)
        posted(f"{running.url}{E}/shop/decide", {"key": "k"})
        assert httpx.get(f"{running.url}/readyz", timeout=PATIENCE).is_success
        assert running.stop() == 0
