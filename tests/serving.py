"""The service as a process of its own: started on a free port, killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from postgres_cluster import free_port

PATIENCE = 180.0  # seconds: a first start compiles, and a machine may be busy


class Server:
    """`fairx serve` on a store, always on the same port."""

    def __init__(self, store: str, log: Path, *options: str, **environment: str) -> None:
        self.port, self.log = free_port(), log
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = [
            sys.executable, "-m", "fairx", "serve", "--store", store, "--port", str(self.port), *options,
        ]  # fmt: skip
        self._environment = os.environ | environment
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self, wait: bool = True) -> None:
        """Start it; return when it is ready, or at once."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=self._environment, stdout=log, stderr=log
            )
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self._process is not None
            if self._process.poll() is not None:
                raise RuntimeError(f"fairx serve ended: {self.log.read_text()}")
            try:
                if httpx.get(self.url + "/readyz", timeout=5).is_success:
                    return
            except httpx.TransportError:
                time.sleep(0.05)
        raise TimeoutError(f"fairx serve is not ready: {self.log.read_text()}")

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to stop; return its exit status."""
        return self._end(signal.SIGTERM)

    def interrupt(self) -> int:
        """Stop it as Ctrl-C does; return its exit status."""
        return self._end(signal.SIGINT)

    def ended(self) -> int:
        """Wait until it ends by itself; return its exit status."""
        assert self._process is not None
        return self._process.wait(PATIENCE)

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)


def posted(url: str, body: Any) -> Any:
    """Return the answer to a request, asked again while something is being compiled."""
    end = time.monotonic() + PATIENCE
    answer = httpx.post(url, json=body, timeout=PATIENCE)
    while answer.status_code == 503 and time.monotonic() < end:
        answer = httpx.post(url, json=body, timeout=PATIENCE)
    return answer.raise_for_status().json()


@contextmanager
def server(folder: Path, *options: str, **environment: str) -> Iterator[Server]:
    """Run a service on a store of its own."""
    running = Server(f"sqlite:///{folder}/store.db", folder / "log", *options, **environment)
    running.start()
    try:
        yield running
    finally:
        running.stop()
