"""The ASGI application: fast routes straight away, all others through Starlette."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from . import access, batches, fast_routes
from .answers import ENCODER
from .audits import Audits
from .calls import Call, authorization, body_of, check_no_query, is_called_right, query_of
from .entrance import Entrance
from .failures import Refused, Reply
from .heads import Heads
from .observing import Observer, tagged
from .openapi import document
from .quick import Quick
from .replies import not_served, response, sent
from .routes import BATCH, ROUTES, E, Route
from .runtime import Runtime
from .shedding import BUSY
from .straight import ADMITTED, answer, body_there

ALWAYS_ANSWERED = ("/healthz", "/readyz", "/metrics")
PREFIX = E + "/"
FAST: dict[str, tuple[str, Callable[[Runtime, str, bytes], Awaitable[bytes]]]] = {
    "decide": (access.DECIDE, fast_routes.decide),
    "rewards": (access.REWARD, fast_routes.rewards),
    "shown": (access.DECIDE, fast_routes.shown),
}


class Application:
    """Answers requests."""

    def __init__(
        self,
        runtime: Runtime,
        pages: Callable[[Runtime, Audits], list[StarletteRoute]] | None = None,
        hosts: Collection[str] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._observer = observer or Observer()
        self._hosts = hosts  # by which it may be called; None: any
        self.runtime, self.audits = runtime, Audits(runtime)
        self._entrance = Entrance(runtime)
        quick = Quick(runtime, Heads(hosts), self._entrance.failed)
        self.quick = quick if self._observer.is_silent else None
        described = Reply(200, ENCODER.encode(document(tokens=not runtime.access.open_to_all)))
        routes = [StarletteRoute("/openapi.json", lambda _: sent(described)), *self._routes()]
        self._rest = Starlette(
            routes=[*routes, *(pages(runtime, self.audits) if pages else [])],
            lifespan=self._lifespan,
            exception_handlers={HTTPException: not_served},  # type: ignore[dict-item]
        )
        self._rest.router.redirect_slashes = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await self._observer.watch(self._bounded, scope, receive, send)
        else:
            await self._rest(scope, receive, send)

    async def _bounded(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request, unless too many are being answered: what is refused costs little."""
        if scope["path"] in ALWAYS_ANSWERED:
            await self._answer(scope, receive, send)
            return
        load = self.runtime.load
        if load.is_full:
            await answer(scope, send, BUSY)
            load.shed += 1
            return
        load.at_work += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            load.at_work -= 1

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        if not is_called_right(scope, self._hosts):
            message = f"without tokens, the host must be one of {', '.join(self._hosts or ())}"
            reply = self._entrance.failed(Refused(403, "forbidden", message), scope["path"])
            await answer(scope, send, reply)
            return
        if scope["method"] == "POST" and scope["path"].startswith(PREFIX):
            name, _, last = scope["path"][len(PREFIX) :].partition("/")
            if last in FAST:
                await self._fast(scope, receive, send, name, last)
                return
        if scope["method"] == "POST" and scope["path"] == BATCH:
            await self._batch(scope, receive, send)
            return
        await self._rest(scope, receive, tagged(scope, send))

    async def _fast(self, scope: Any, receive: Any, send: Any, name: str, route: str) -> None:
        begun = time.perf_counter()
        try:
            reply = await self._asked(scope, name, route, receive)
        finally:
            self.runtime.load.end(id(scope))
        await answer(scope, send, reply)
        if route == "decide":
            self.runtime.metrics.seconds.observe(time.perf_counter() - begun)

    async def _asked(
        self, scope: Any, name: str, route: str, receive: Any, body: bytes | None = None
    ) -> Reply:
        """Return the answer of a fast route; the body is read when it is known who asks."""
        role, handler = FAST[route]
        try:
            if not scope.get(ADMITTED):
                await self._entrance.admit(authorization(scope), role, name)
            check_no_query(scope)
            if body is None:
                limit = self.runtime.limits.body_bytes
                body = body_there(scope, limit)
                body = await body_of(receive, limit) if body is None else body
                self.runtime.load.begin(id(scope))  # not before: a client may be slow
            await self._entrance.hear_of(name)
            return Reply(200, await handler(self.runtime, name, body))
        except Exception as error:  # noqa: BLE001 - answered and logged
            return self._entrance.failed(error, scope["path"])

    async def _batch(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer requests that came in one, each in its own right."""
        try:
            await self._entrance.admit(authorization(scope), access.SOME, access.ANY)
            check_no_query(scope)
            body = await body_of(receive, self.runtime.limits.body_bytes)
            self.runtime.load.begin(id(scope))

            async def ask(name: str, route: str, part: bytes) -> Reply:
                return await self._asked(scope, name, route, receive, part)

            reply = Reply(200, await batches.answers_to(self.runtime, body, ask))
        except Exception as error:  # noqa: BLE001 - answered and logged
            reply = self._entrance.failed(error, scope["path"])
        finally:
            self.runtime.load.end(id(scope))
        await answer(scope, send, reply)

    def _routes(self) -> list[StarletteRoute]:
        """Return a route for each path: it knows which methods there are."""
        paths: dict[str, dict[str, Any]] = {}
        for route in ROUTES:
            paths.setdefault(route.path, {})[route.method] = self._endpoint(route)
        return [
            StarletteRoute(path, _by_method(found), methods=[*found])
            for path, found in paths.items()
        ]

    def _endpoint(self, route: Route) -> Callable[[Request], Awaitable[Response]]:
        handler: Any = route.handler  # those of fast routes are not asked here
        decoder = None if route.takes is None else msgspec.json.Decoder(route.takes)

        async def endpoint(request: Request) -> Response:
            try:
                grant = await self._grant(request, route)
                body = (
                    decoder.decode(await body_of(request.receive, self.runtime.limits.body_bytes))
                    if decoder
                    else None
                )
                query = query_of(request, route.query)
                await self._entrance.hear_of(request.path_params.get("name"))
                call = Call(self.runtime, self.audits, grant, request.path_params, query, body)
                return response(route.status, await handler(call))
            except Exception as error:  # noqa: BLE001 - answered and logged
                return sent(self._entrance.failed(error, request.url.path))

        return endpoint

    async def _grant(self, request: Request, route: Route) -> access.Grant:
        if route.role is None:
            return access.NOBODY
        where = request.path_params.get(
            "name", access.ANY if route.path == E and route.takes is None else None
        )
        return await self._entrance.admit(authorization(request.scope), route.role, where)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        await self.runtime.start()
        yield
        await self.runtime.stop()
        self.audits.close()


def _by_method(endpoints: dict[str, Any]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        found: Response = await endpoints[method](request)
        return found

    return endpoint
