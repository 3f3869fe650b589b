"""What both clients make of their settings, and of an export."""

from __future__ import annotations

import re
from typing import Any

import httpx

from ..rules import positive
from .call import Call

MAGIC = b"PAR1"  # a Parquet file ends with it


def settings(url: str, token: str | None, timeout: float) -> dict[str, Any]:
    """Return the settings of an httpx client, or say which one cannot be."""
    if not re.fullmatch(r"https?://[^/\s].*", url):
        raise ValueError(f"url must begin with http:// or https:// and a host, not {url!r}")
    headers = {"Accept": "application/json"}
    if token is not None:
        if not re.fullmatch(r"[!-~]+", token):  # the message does not repeat it: it is a secret
            raise ValueError(
                f"token must be of printable ASCII without spaces, not a text of {len(token)} "
                "characters: copy it again"
            )
        headers["Authorization"] = f"Bearer {token}"
    return {"base_url": url, "headers": headers, "timeout": positive("timeout", timeout)}


def request(call: Call[Any]) -> dict[str, Any]:
    """Return the arguments of an httpx request."""
    headers = {} if call.body is None else {"Content-Type": "application/json"}
    return {"method": call.method, "url": call.path, "content": call.body, "headers": headers}


def ending(end: bytes, chunk: bytes) -> bytes:
    """Return the last bytes of a file that goes on with `chunk`."""
    return (end + chunk)[-len(MAGIC) :]


def refuse_torn(end: bytes) -> None:
    """Refuse a Parquet file without its end: a proxy may close a torn answer as if it were whole."""
    if end != MAGIC:
        raise httpx.RemoteProtocolError("the export stopped before the end of its Parquet file")
