"""Connections that send too much around a body, or send or take too little for too long, are closed.

uvicorn bounds neither the size of headers nor the time in which a request must be there, and takes
the fields that may follow a body in chunks, without limit, for headers.
"""

from __future__ import annotations

import asyncio
from typing import Any

from .load import Load
from .quick import Quick, Way
from .shedding import is_one_request, refusal
from .straight import ADMITTED, CYCLE

HEADER_BYTES = 65_536
SENT_IN = 20.0  # seconds, from the first byte of a request, or the connection, to the last byte
TAKEN_IN = 60.0  # seconds, in which a client must have taken what waits to be sent

REFUSAL = refusal()


class Bounded:
    """uvicorn's protocol for one connection, with limits. A request in one piece pays nothing.

    One for a decision is answered past uvicorn and ASGI, by `quick`, where there is one.

    While the service is full, a plain request in one piece is refused here, unread: by way of ASGI
    that cost half as much as a decision, and twice the load left a third of the decisions.
    """

    def __init__(self, load: Load, quick: Quick | None = None, **about: Any) -> None:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

        self._inner: Any = HttpToolsProtocol(**about)
        self._load, self._quick = load, quick
        self._timer: asyncio.TimerHandle | None = None
        self._stuck: asyncio.TimerHandle | None = None
        self._seen = 0  # bytes of a request that is on its way
        self._beyond = 0  # of them, since the last that was of its body
        self.eof_received = self._inner.eof_received
        self._parse()

    def _parse(self) -> None:
        """Have the parser tell us, too, where headers end and what is of a body."""
        import httptools

        inner = self._inner
        self.on_message_begin, self.on_url = inner.on_message_begin, inner.on_url
        self.on_header, self.on_message_complete = inner.on_header, inner.on_message_complete
        inner.parser = httptools.HttpRequestParser(self)
        inner.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it

    def on_headers_complete(self) -> None:
        """Begin to answer; what comes in the way of headers after the body is none of it."""
        self._inner.on_headers_complete()
        self._inner.headers = []

    def on_body(self, body: bytes) -> None:
        """Hand a part of the body on."""
        self._beyond = 0
        self._inner.on_body(body)

    def pause_writing(self) -> None:
        """Wait for a client to take what was sent, but not for ever."""
        self._inner.pause_writing()
        if self._stuck is None:
            self._stuck = self._inner.loop.call_later(TAKEN_IN, self._inner.transport.abort)

    def resume_writing(self) -> None:
        """Go on: it was taken."""
        self._unstick()
        self._inner.resume_writing()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a request."""
        self._load.connections += 1
        self._inner.connection_made(transport)
        self._read_in_turn()
        self._wait()

    def _read_in_turn(self) -> None:
        """Read no more while requests wait in line: uvicorn has each answer read the next 256 KB of them."""
        flow, line = self._inner.flow, self._inner.pipeline
        resume = flow.resume_reading
        flow.resume_reading = lambda: None if line else resume()

    def connection_lost(self, error: Exception | None) -> None:
        """Forget it."""
        self._load.connections -= 1
        self._rest()
        self._unstick()
        self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Hand data on; then see whether a request is still on its way."""
        inner, way = self._inner, Way.ASGI
        if self._is_between_requests():
            if self._load.is_full and self._is_plain(data):
                self._refuse()
                return
            if self._quick is not None:
                way = self._quick.begin(inner, data)
            if way is Way.STRAIGHT:
                self._rest()
                return
            self._load.let_in(inner.loop)
        self._beyond += len(data)
        inner.data_received(data)
        cycle = inner.cycle
        in_headers = cycle is None or cycle.scope is not inner.scope
        if not (in_headers or cycle.more_body or cycle.response_complete):
            cycle.scope[CYCLE], cycle.scope[ADMITTED] = cycle, way is Way.ADMITTED
            self._rest()
            return
        self._seen += len(data)  # an empty line after an answer, too, must not be all that comes
        if self._beyond > HEADER_BYTES:
            self._refuse_headers(in_headers)
        self._wait()

    def _refuse_headers(self, in_headers: bool) -> None:
        inner, cycle = self._inner, self._inner.cycle
        if cycle is None or (cycle.response_complete if in_headers else not cycle.response_started):
            inner.send_400_response(f"headers must be at most {HEADER_BYTES} bytes")
        else:  # half an answer is out, or the whole of it: no other can follow
            inner.transport.abort()

    def _is_between_requests(self) -> bool:
        cycle = self._inner.cycle
        return not self._seen and (cycle is None or cycle.response_complete)

    def _is_plain(self, data: bytes) -> bool:
        """Tell whether data is one request and no more: one that was seen before at a tenth of the price."""
        return (self._quick is not None and self._quick.heads.has(data)) or is_one_request(data)

    def _refuse(self) -> None:
        """Answer that there is too much to do; the connection stays, for as long as an idle one."""
        inner = self._inner
        inner.transport.write(REFUSAL)
        self._rest()
        inner._unset_keepalive_if_required()
        inner.timeout_keep_alive_task = inner.loop.call_later(
            inner.timeout_keep_alive, inner.timeout_keep_alive_handler
        )
        self._load.shed += 1

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self._inner.loop.call_later(SENT_IN, self._inner.transport.abort)

    def _unstick(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _rest(self) -> None:
        self._seen = self._beyond = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
