"""From templates to responses that may load nothing but our own style and script."""

from __future__ import annotations

import gzip
import hashlib
from importlib import resources
from typing import Any

import jinja2
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from fairx.store.errors import NotFound
from fairx.version import __version__

from . import charts, words

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
UNKEPT = {"cache-control": "no-store", "vary": "accept-encoding"}
NONE: dict[str, str] = {}
KINDS = {"style.css": "text/css", "refresh.js": "text/javascript", "icon.svg": "image/svg+xml"}


class Renderer:
    """The templates and the files beside them, read once."""

    def __init__(self) -> None:
        folder = resources.files(__package__).joinpath("static")
        self._files = {name: folder.joinpath(name).read_bytes() for name in KINDS}
        self._templates = _environment(self._files)

    async def page(
        self, request: Request, template: str, about: dict[str, Any], status: int = 200,
        headers: dict[str, str] = NONE,
    ) -> Response:  # fmt: skip
        """Return a page. It is made in another thread: decisions must not wait for a long one."""
        packed = "gzip" in request.headers.get("accept-encoding", "")
        body = await run_in_threadpool(self._made, template, about, packed)
        every = HEADERS | UNKEPT | headers | ({"content-encoding": "gzip"} if packed else {})
        return Response(body, status, every, media_type="text/html")

    def _made(self, template: str, about: dict[str, Any], packed: bool) -> bytes:
        body = self._templates.get_template(template).render(about).encode()
        return gzip.compress(body, 4) if packed else body

    def file(self, name: str) -> Response:
        """Return a file, to be kept for ever: its address changes when it does."""
        if name not in self._files:
            raise NotFound(f"file {name!r} does not exist")
        kept = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(self._files[name], headers=HEADERS | kept, media_type=KINDS[name])


def _environment(files: dict[str, bytes]) -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    spoken = {"number": words.number, "share": words.share, "age": words.age, "when": words.when}
    made.filters |= spoken | {"exact": words.exact}
    made.globals |= spoken | {
        "version": __version__,
        "charts": charts,
        "arm_link": words.arm_link,
        "files": {
            name: f"/static/{name}?{hashlib.sha256(body).hexdigest()[:12]}"
            for name, body in files.items()
        },
    }
    return made
