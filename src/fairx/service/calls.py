"""What a handler is given, and what it may give beside JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request

from fairx.rules import InvalidValue

from .access import Grant
from .audits import Audits
from .failures import Refused
from .runtime import Runtime


class Call(NamedTuple):
    """A request, with what was found out about it."""

    runtime: Runtime
    audits: Audits
    grant: Grant
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.path["name"]


class Bytes(NamedTuple):
    """An answer that is not JSON: bytes, or a file to be sent and removed."""

    kind: str
    body: bytes | Path


def authorization(scope: Any) -> bytes | None:
    """Return the header; refuse what a page of another site has a browser send in its user's name."""
    headers = dict(scope["headers"])
    origin = headers.get(b"origin")
    foreign = origin is not None and origin.partition(b"://")[2] != headers.get(b"host")
    if foreign and scope["method"] not in ("GET", "HEAD"):
        raise Refused(403, "forbidden", "requests must not come from pages of another site")
    return headers.get(b"authorization")


def is_called_right(scope: Any, hosts: Collection[str] | None) -> bool:
    """Tell whether a browser was not led here under the name of another site (DNS rebinding)."""
    if hosts is None:
        return True
    host: str = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    return name.lower() in hosts


def query_of(request: Request, allowed: Collection[str]) -> dict[str, str]:
    """Return the query of a request, which must have nothing that is not allowed."""
    for name in request.query_params:
        if name not in allowed:
            hint = f"choose from {', '.join(allowed)}" if allowed else "it takes none"
            raise InvalidValue("query", f"not have {name!r}: {hint}")
    return dict(request.query_params)


def check_no_query(scope: Any) -> None:
    """Refuse a query where there is nothing to ask."""
    if scope["query_string"]:
        raise InvalidValue("query", "be left out: it takes none")


async def body_of(receive: Callable[[], Awaitable[Any]], limit: int) -> bytes:
    """Read the body of a request, as long as it is not too large."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refused(400, "disconnected", "the client went away")
        part = message.get("body", b"")
        size += len(part)
        if size > limit:
            raise Refused(
                413, "too_large", f"body must be at most {limit} bytes: see --limit-body-bytes"
            )
        parts.append(part)
        more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)
