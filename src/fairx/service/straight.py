"""Requests read and answers that succeed written in one piece, by way of uvicorn's own cycle of a request.

ASGI sends an answer in two messages, and uvicorn looks at each header of each: some microseconds of
each decision. Nothing else is different: the same lines, in another order.
"""

from __future__ import annotations

from typing import Any

from .failures import Reply
from .observing import HEADER, ID, STATUS, tagged
from .replies import ALWAYS, JSON
from .wire import whole

CYCLE = "fairx.cycle"  # where a scope has uvicorn's cycle, if the request is there whole
ADMITTED = "fairx.admitted"  # where it has whether who asks for a decision was admitted already


def body_there(scope: Any, limit: int) -> bytes | None:
    """Return the body of a request that is there whole; None: it must be received in ASGI's way."""
    cycle = scope.get(CYCLE)
    if cycle is None or cycle.disconnected or len(cycle.body) > limit:
        return None
    return bytes(cycle.body)


async def answer(scope: Any, send: Any, reply: Reply) -> None:
    """Answer a request, in one piece if that can be."""
    if reply.status == 200 and not reply.headers and _written(scope, reply):
        scope[STATUS] = 200
        return
    length = (b"content-length", b"%d" % len(reply.body))
    headers = [JSON, length, *ALWAYS, *reply.headers]
    start = {"type": "http.response.start", "status": reply.status, "headers": headers}
    await tagged(scope, send)(start)
    await send({"type": "http.response.body", "body": reply.body})


def _written(scope: Any, reply: Reply) -> bool:
    """Write an answer of status 200, with the id of its request; False: it must go ASGI's way."""
    cycle = scope.get(CYCLE)
    if cycle is None or not cycle.keep_alive or cycle.disconnected or cycle.flow.write_paused:
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.transport.write(whole(reply, [*cycle.default_headers, (HEADER, scope[ID].encode())]))
    cycle.message_event.set()  # whoever waits for more of the request is told that it is over
    cycle.on_response()
    return True
