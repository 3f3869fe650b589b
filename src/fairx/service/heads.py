"""The heads of requests for a decision, each read once: clients send the same one with every request."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from .calls import authorization, is_called_right
from .failures import Refused
from .observing import brought
from .routes import E
from .shedding import is_one_request

MOST = 1_000  # heads that are kept
LONGEST = 1_000  # bytes of one that is
START = b"POST %b/" % E.encode()
DECIDE = re.compile(E.encode() + rb"/([A-Za-z0-9][A-Za-z0-9._-]{0,99})/decide")


class Head(NamedTuple):
    """What is before a body."""

    experiment: str
    authorization: bytes | None
    request_id: str | None  # that it brings
    start: int  # of the body
    size: int  # of the whole request


class Heads:
    """Heads as a real parser read them. The same bytes are not read again.

    Parameters
    ----------
    hosts
        By which we may be called; None: any.
    """

    def __init__(self, hosts: Collection[str] | None) -> None:
        self._hosts = hosts
        self._known: dict[bytes, Head] = {}

    def of(self, data: bytes) -> Head | None:
        """Return the head of a plain request for a decision, one and whole; None of any other."""
        text = data[: data.find(b"\r\n\r\n")]
        head = self._known.get(text)
        if head is None and data.startswith(START):
            head = self._read(text, data)
        return head if head is not None and head.size == len(data) else None

    def has(self, data: bytes) -> bool:
        """Tell whether this is a whole request whose head was read before."""
        head = self._known.get(data[: data.find(b"\r\n\r\n")])
        return head is not None and head.size == len(data)

    def _read(self, text: bytes, data: bytes) -> Head | None:
        read = _Read(data) if is_one_request(data) else None
        path = None if read is None or not read.is_whole else DECIDE.fullmatch(read.path)
        if read is None or path is None:
            return None
        scope = {"method": "POST", "headers": read.headers}
        try:
            token = authorization(scope)
        except Refused:
            return None
        if not is_called_right(scope, self._hosts):
            return None
        number = brought(read.headers)
        head = Head(path[1].decode(), token, number, len(text) + 4, len(data))
        if len(text) <= LONGEST and number is None:  # with an id of its own it does not come again
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[text] = head
        return head


class _Read:
    """What a parser makes of a request."""

    def __init__(self, data: bytes) -> None:
        import httptools

        self.path, self.is_whole = b"", False
        self.headers: list[tuple[bytes, bytes]] = []
        parser = httptools.HttpRequestParser(self)
        try:
            parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.is_whole = False

    def on_url(self, url: bytes) -> None:
        self.path += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_message_complete(self) -> None:
        self.is_whole = True
