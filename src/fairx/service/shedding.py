"""What is refused when too much is asked: before it is read, for a small part of an answer's price."""

from __future__ import annotations

from fairx.store.errors import Overloaded

from .failures import answered
from .wire import whole

BUSY = answered(
    Overloaded("too many requests are being answered: try again, see --limit-at-once"), ""
)
# What makes the end of a request, or of its answer, a matter for a real parser.
DIFFICULT = (b"\r\ntransfer-encoding", b"\r\nexpect", b"\r\nupgrade", b"close")
LENGTH = b"\r\ncontent-length:"


def refusal() -> bytes:
    """Return the whole answer to a request that is refused, as it goes over the wire."""
    return whole(BUSY)


def is_one_request(data: bytes) -> bool:
    r"""Tell whether data is one whole POST, no more, and so plain that nobody could read it otherwise.

    Examples
    --------
    >>> is_one_request(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
    True
    >>> is_one_request(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}")
    False
    """
    head, _, body = data.partition(b"\r\n\r\n")
    head = head.lower()
    line, _, _ = head.partition(b"\r\n")
    if not (line.startswith(b"post ") and line.endswith(b" http/1.1")):
        return False
    _, _, after = head.partition(LENGTH)
    if LENGTH in after or any(each in head for each in DIFFICULT):
        return False
    length = after.partition(b"\r\n")[0].strip()
    return length.isdigit() and len(length) < 10 and len(body) == int(length)
