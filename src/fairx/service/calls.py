"""What a handler is given, and what it may give beside JSON."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .access import Grant
from .audits import Audits
from .live import Live


class Call(NamedTuple):
    """A request, with what was found out about it."""

    live: Live
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
