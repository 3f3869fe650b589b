"""A call of the service: what to send, and how to read the answer. Nothing here sends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec

T = TypeVar("T")
Read = Callable[[bytes], T]


class Call(NamedTuple, Generic[T]):
    """One request and the reader of its answer."""

    method: str
    path: str
    read: Read[T]
    body: bytes | None = None
    repeatable: bool = True  # a second time changes nothing and answers the same


def body(**fields: Any) -> bytes:
    """Return a JSON object of the fields that are not None.

    Examples
    --------
    >>> body(key="k1", unit=None)
    b'{"key":"k1"}'
    """
    return msgspec.json.encode({name: v for name, v in fields.items() if v is not None})


def path(*segments: str) -> str:
    """Return the path under /v1, each segment quoted whole.

    Examples
    --------
    >>> path("experiments", "café/front page")
    '/v1/experiments/caf%C3%A9%2Ffront%20page'
    """
    for segment in segments:
        if segment in ("", ".", ".."):  # clients and proxies resolve these: another route answers
            raise ValueError(
                f"a name must be other than '', '.' and '..', not {segment!r}: "
                "an address cannot hold it"
            )
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


def names(field: str, value: Iterable[str] | None) -> list[str] | None:
    """Return a list of names; None stays None, for a field that is left out.

    Examples
    --------
    >>> names("candidates", "news")
    Traceback (most recent call last):
    TypeError: candidates must be a list of names, not 'news': write ['news']
    """
    if isinstance(value, str):
        raise TypeError(f"{field} must be a list of names, not {value!r}: write [{value!r}]")
    return None if value is None else list(value)


def reading(kind: type[T]) -> Read[T]:
    """Return a reader of an answer of this kind."""
    return msgspec.json.Decoder(kind).decode


def reading_field(field: str, kind: type[T]) -> Read[T]:
    """Return a reader of one field of an answer.

    Examples
    --------
    >>> reading_field("actions", list[int])(b'{"actions": [1, 2]}')
    [1, 2]
    """
    decode = msgspec.json.Decoder(msgspec.defstruct("Answer", [(field, kind)])).decode

    def read(content: bytes) -> T:
        found: T = getattr(decode(content), field)
        return found

    return read


def nothing(_: bytes) -> None:
    """Read an answer that has no content."""
