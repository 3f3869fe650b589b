"""Connections that send too much before a request begins, or too little for too long, are closed.

uvicorn bounds neither the size of headers nor the time in which a request must be there.
"""

from __future__ import annotations

import asyncio
from typing import Any

HEADER_BYTES = 65_536
SENT_IN = 20.0  # seconds, from the first byte of a request, or the connection, to the last byte


class Bounded:
    """uvicorn's protocol for one connection, with limits. A request in one piece pays nothing."""

    def __init__(self, **about: Any) -> None:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

        self._inner: Any = HttpToolsProtocol(**about)
        self._timer: asyncio.TimerHandle | None = None
        self._seen = 0
        self.eof_received = self._inner.eof_received
        self.pause_writing = self._inner.pause_writing
        self.resume_writing = self._inner.resume_writing

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        self._inner.connection_made(transport)
        self._wait()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self._rest()
        self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Hand data on; then see whether a request is still on its way."""
        inner = self._inner
        inner.data_received(data)
        cycle = inner.cycle
        in_headers = cycle is None or cycle.scope is not inner.scope
        if not in_headers and not cycle.more_body:
            self._rest()
            return
        self._seen += len(data)
        if in_headers and self._seen > HEADER_BYTES:
            inner.send_400_response(f"headers must be at most {HEADER_BYTES} bytes")
        self._wait()

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self._inner.loop.call_later(SENT_IN, self._inner.transport.abort)

    def _rest(self) -> None:
        self._seen = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
