"""Answers as they go over the wire, in one piece."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from http import HTTPStatus

from .failures import Reply
from .replies import ALWAYS, JSON

Headers = tuple[tuple[bytes, bytes], ...]


def whole(reply: Reply, more: Iterable[tuple[bytes, bytes]] = ()) -> bytes:
    r"""Return an answer, with more headers than its own.

    Examples
    --------
    >>> whole(Reply(200, b"{}"), [(b"x-request-id", b"one")]).splitlines()[0]
    b'HTTP/1.1 200 OK'
    """
    lines = b"".join([b"%b: %b\r\n" % each for each in more])
    start = _start_of(reply.status, reply.headers)
    return b"%b%bcontent-length: %d\r\n\r\n%b" % (start, lines, len(reply.body), reply.body)


@functools.lru_cache(maxsize=64)
def _start_of(status: int, headers: Headers) -> bytes:
    """Return the first lines of all answers that have a status."""
    lines = b"".join(b"%b: %b\r\n" % each for each in (JSON, *ALWAYS, *headers))
    return b"HTTP/1.1 %d %b\r\n%b" % (status, HTTPStatus(status).phrase.encode(), lines)
