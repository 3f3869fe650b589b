"""Where the client in TypeScript is, and of which OpenAPI document it is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from fairx.service.openapi import document

CLIENT = Path(__file__).parent.parent / "clients" / "typescript"


def digest() -> str:
    """Return a digest of the document, whatever the version of fairx."""
    found = document()
    del found["info"]["version"]
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:16]
