"""The OpenAPI document, made from the same table and types that serve the requests."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from fairx.version import __version__

from . import answers, requests
from .calls import Bytes
from .routes import ROUTES, Route

REFERENCES = "#/components/schemas/{name}"
WORDS = {
    400: "Malformed JSON",
    401: "No valid token",
    403: "The token's role does not allow it",
    404: "It does not exist",
    409: "It contradicts what is on record",
    413: "The body is too large",
    422: "A value breaks a rule; `field` names it",
    429: "Too many requests",
    503: "The store cannot be reached; trying again is safe",
}


def document(*, tokens: bool = True) -> dict[str, Any]:
    """Return the document of a service that asks for tokens, or of one that does not.

    Examples
    --------
    >>> sorted(document()["paths"]["/v1/experiments"])
    ['get', 'post']
    """
    paths: dict[str, Any] = {}
    for route in ROUTES:
        asked = route if tokens else route._replace(role=None)
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(asked)
    _, schemas = _schemas()
    found = {
        "openapi": "3.1.0",
        "info": {"title": "fairx", "version": __version__, "description": "Merit-fair decisions"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    # JSON Schema's `$` lets no newline follow: it needs none of what Python's does.
    plain: dict[str, Any] = json.loads(
        json.dumps(found).replace(json.dumps(requests.END)[1:-1], "$")
    )
    return plain


def _operation(route: Route) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": route.summary,
        "operationId": re.sub(r"\W+", "_", f"{route.method} {route.path}").strip("_").lower(),
        "parameters": _parameters(route),
        "responses": _responses(route),
        "security": [{"token": []}] if route.role else [],
    }
    if route.takes is not None:
        found["requestBody"] = {"required": True, "content": _json(route.takes)}
    return found


def _parameters(route: Route) -> list[dict[str, Any]]:
    text = {"type": "string", "minLength": 1}
    path = [
        {"name": name, "in": "path", "required": True, "schema": text, "example": name}
        for name in re.findall(r"{(\w+)}", route.path)
    ]
    query = [{"name": name, "in": "query", "schema": {"type": "number"}} for name in route.query]
    return path + query


def _responses(route: Route) -> dict[str, Any]:
    statuses = {
        403,
        429,
        *((401,) if route.role else ()),
        *((400, 413, 422) if route.takes else ()),
    }
    statuses |= {404} if "{" in route.path else set()
    statuses |= {409, 422} if route.takes or route.query or route.method != "GET" else set()
    statuses |= {422}  # a query that it does not take
    found: dict[str, Any] = {str(route.status): _success(route)}
    for status in sorted(statuses | {503}):
        found[str(status)] = {"description": WORDS[status], "content": _json(answers.Failure)}
    return found


def _success(route: Route) -> dict[str, Any]:
    if route.gives is None:
        return {"description": "Done"}
    if route.gives is Bytes:
        kind = "text/plain" if route.path == "/metrics" else "application/vnd.apache.parquet"
        return {"description": route.summary, "content": {kind: {"schema": {"type": "string"}}}}
    return {"description": route.summary, "content": _json(route.gives)}


def _json(kinds: Any) -> dict[str, Any]:
    schemas, _ = msgspec.json.schema_components(_several(kinds), ref_template=REFERENCES)
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
    return {"application/json": {"schema": schema}}


def _several(kinds: Any) -> list[Any]:
    return list(kinds) if isinstance(kinds, tuple) else [kinds]


def _schemas() -> tuple[Any, dict[str, Any]]:
    kinds = [answers.Failure]
    for route in ROUTES:
        for kind in (route.takes, *_several(route.gives)):
            kinds += [kind] if kind not in (None, Bytes) else []
    return msgspec.json.schema_components(kinds, ref_template=REFERENCES)
