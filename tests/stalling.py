"""A proxy that can stop forwarding, as a network does that swallows everything."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Proxy:
    """Forwards connections to a port, or keeps them open and forwards nothing."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._flows = threading.Event()
        self._flows.set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self) -> None:
        """Keep what comes."""
        self._flows.clear()

    def flow(self) -> None:
        """Forward what was kept, and what comes."""
        self._flows.set()

    def close(self) -> None:
        """Take no more connections."""
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self._target))
                except OSError:  # nobody is there now
                    near.close()
                    continue
                for pair in ((near, far), (far, near)):
                    threading.Thread(
                        target=self._forward, args=(*pair, self._flows), daemon=True
                    ).start()

    def _forward(self, near: socket.socket, far: socket.socket, flows: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while part := near.recv(65536):
                flows.wait()
                far.sendall(part)
        self._end(near, far)

    def _end(self, near: socket.socket, far: socket.socket) -> None:
        """Close both; the other direction gets an error, or does so again."""
        for each in (near, far):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def proxy(port: int) -> Iterator[Proxy]:
    """Run a proxy before a port."""
    found = Proxy(port)
    try:
        yield found
    finally:
        found.close()
