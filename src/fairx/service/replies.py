"""Answers as Starlette sends them: JSON, files, and that something is not served."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from .answers import ENCODER
from .calls import Bytes
from .failures import Refused, Reply, reply_to

JSON = (b"content-type", b"application/json")
ALWAYS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))
PART = 1 << 18  # bytes of a file sent at once


def response(status: int, found: Any) -> Response:
    """Return the answer to a request that succeeded."""
    if status == 204:
        return Response(status_code=204, headers=_headers(ALWAYS))
    if not isinstance(found, Bytes):
        return sent(Reply(status, ENCODER.encode(found)))
    if isinstance(found.body, Path):
        return _sent_file(found.body, found.kind)
    return Response(found.body, headers=_headers(ALWAYS), media_type=found.kind)


def _sent_file(path: Path, kind: str) -> Response:
    """Send a file whose name is gone already: nothing stays behind, whatever happens."""
    file = path.open("rb")
    path.unlink()
    path.parent.rmdir()
    size = str(os.fstat(file.fileno()).st_size)
    named = {"content-length": size, "content-disposition": f'attachment; filename="{path.name}"'}

    def parts() -> Iterator[bytes]:
        with file:
            while part := file.read(PART):
                yield part

    return StreamingResponse(parts(), headers=_headers(ALWAYS) | named, media_type=kind)


def sent(reply: Reply) -> Response:
    """Return an answer that is JSON already."""
    headers = _headers((*ALWAYS, *reply.headers))
    return Response(reply.body, reply.status, headers, media_type="application/json")


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {key.decode(): value.decode() for key, value in pairs}


async def not_served(request: Request, error: HTTPException) -> Response:
    """Answer a path or method that is not there, in the one shape of errors."""
    code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
    message = f"{request.method} {request.url.path} is not served here: see /openapi.json"
    found = reply_to(Refused(error.status_code, code, message, dict(error.headers or {})))
    assert found is not None
    return sent(found)
