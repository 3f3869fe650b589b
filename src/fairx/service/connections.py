"""Connections that send too much before a request begins, or too little for too long, are closed.

uvicorn bounds neither the size of headers nor the time in which a request must be there.
"""

from __future__ import annotations

import asyncio
from typing import Any

from .load import Load
from .shedding import is_one_request, refusal
from .straight import CYCLE

HEADER_BYTES = 65_536
SENT_IN = 20.0  # seconds, from the first byte of a request, or the connection, to the last byte


REFUSAL = refusal()


class Bounded:
    """uvicorn's protocol for one connection, with limits. A request in one piece pays nothing.

    While the service is full, a plain request in one piece is refused here, unread: by way of ASGI
    that cost half as much as a decision, and twice the load left a third of the decisions.
    """

    def __init__(self, load: Load, **about: Any) -> None:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

        self._inner: Any = HttpToolsProtocol(**about)
        self._load = load
        self._timer: asyncio.TimerHandle | None = None
        self._seen = 0
        self.eof_received = self._inner.eof_received
        self.pause_writing = self._inner.pause_writing
        self.resume_writing = self._inner.resume_writing

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        self._load.connections += 1
        self._inner.connection_made(transport)
        self._wait()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self._load.connections -= 1
        self._rest()
        self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Hand data on; then see whether a request is still on its way."""
        inner = self._inner
        if self._is_between_requests():
            if self._load.is_full and is_one_request(data):
                self._refuse()
                return
            self._load.let_in(inner.loop)
        inner.data_received(data)
        cycle = inner.cycle
        in_headers = cycle is None or cycle.scope is not inner.scope
        if not in_headers and not cycle.more_body:
            cycle.scope[CYCLE] = cycle
            self._rest()
            return
        self._seen += len(data)
        if in_headers and self._seen > HEADER_BYTES:
            inner.send_400_response(f"headers must be at most {HEADER_BYTES} bytes")
        self._wait()

    def _is_between_requests(self) -> bool:
        cycle = self._inner.cycle
        return not self._seen and (cycle is None or cycle.response_complete)

    def _refuse(self) -> None:
        """Answer that there is too much to do; the connection stays, for as long as an idle one."""
        inner = self._inner
        inner.transport.write(REFUSAL)
        self._rest()
        inner._unset_keepalive_if_required()
        inner.timeout_keep_alive_task = inner.loop.call_later(
            inner.timeout_keep_alive, inner.timeout_keep_alive_handler
        )
        self._load.refuse(inner.loop)

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self._inner.loop.call_later(SENT_IN, self._inner.transport.abort)

    def _rest(self) -> None:
        self._seen = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
