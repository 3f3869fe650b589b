"""Each request has an id: in its answer, in lines of the log, in its trace."""

from __future__ import annotations

import logging
import random
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Protocol

HEADER = b"x-request-id"
ID, STATUS = (
    "fairx.request_id",
    "fairx.status",
)  # where a scope has a request's id, and what became of it
OURS = re.compile(rb"[A-Za-z0-9._-]{1,100}")  # what may stand in headers and logs
ACCESS = logging.getLogger("fairx.access")
# Ids need be new, no more. Bits from the system for each of them would hand Python's lock to the writer
# meanwhile, which then writes one decision at a time.
_numbers = random.Random(secrets.randbits(256))  # of this process
request_id: ContextVar[str] = ContextVar("request_id", default="")
Answer = Callable[[Any, Any, Any], Awaitable[None]]


class Tracer(Protocol):
    """Follows requests; `None` is never asked."""

    def __call__(self, scope: Any, number: str) -> Any:
        """Return a context manager around a request; what it gives is told the status."""


class Observer:
    """Gives requests their ids and notes what became of them.

    Parameters
    ----------
    log
        Whether each request is logged.
    tracer
        Makes a span of each request; none without it.
    """

    def __init__(self, log: bool = False, tracer: Tracer | None = None) -> None:
        self._log, self._tracer = log, tracer
        self.is_silent = not log and tracer is None  # about requests that need no attention

    async def watch(self, answer: Answer, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, with its id."""
        number = scope[ID] = id_of(scope["headers"])
        request_id.set(number)
        begun = time.perf_counter()
        if self._tracer is None:
            await answer(scope, receive, send)
        else:
            with self._tracer(scope, number) as note:
                await answer(scope, receive, send)
                note(scope.get(STATUS, 0))
        if self._log:
            self._note(scope, scope.get(STATUS, 0), time.perf_counter() - begun)

    def _note(self, scope: Any, status: int, seconds: float) -> None:
        about = {"method": scope["method"], "path": scope["path"], "status": status}
        ACCESS.info("request", extra=about | {"seconds": round(seconds, 6)})


def tagged(scope: Any, send: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """Return a way to send answers that have the id of their request, and whose status is noted."""

    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            scope[STATUS] = message["status"]
            message["headers"] = [*message["headers"], (HEADER, scope[ID].encode())]
        await send(message)

    return sent


def id_of(headers: Any) -> str:
    """Return the id that a request brings, or a new one.

    Examples
    --------
    >>> id_of([(b"x-request-id", b"checkout-7")])
    'checkout-7'
    >>> len(id_of([(b"x-request-id", b"two words")]))
    16
    """
    return brought(headers) or new_id()


def brought(headers: Any) -> str | None:
    """Return the id that a request brings, if it may stand in headers and logs."""
    for name, value in headers:
        if name == HEADER and OURS.fullmatch(value):
            found: str = value.decode()
            return found
    return None


def new_id() -> str:
    """Return an id that no other request has."""
    return f"{_numbers.getrandbits(64):016x}"
